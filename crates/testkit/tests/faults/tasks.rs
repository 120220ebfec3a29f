//! Calls that become tasks: those of the extension and those of 2025-11-25.

use crate::support::*;
use serde_json::{Value, json};
use trunkline_client::{Client, ConnectOptions};
use trunkline_protocol::{Fault, Object, message::CallToolResult};
use trunkline_testkit::script::ProcessLine;

type Call = tokio::task::JoinHandle<Result<CallToolResult, Fault>>;

fn state(status: &str) -> Value {
    json!({"resultType": "task", "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 20,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"})
}

fn with(status: &str, name: &str, value: Value) -> Value {
    let mut state = state(status);
    state["resultType"] = "complete".into();
    state[name] = value;
    state
}

/// Starts a call that the server answers with a task.
async fn started(client: &Client, line: &mut ProcessLine) -> Call {
    let call = call(client);
    let asked = line.expect("tools/call").await;
    line.answer(&asked, state("working")).await;
    call
}

#[test]
fn a_task_is_polled_asked_answered_and_finished() {
    run(async {
        let host = TestHost::accepting();
        let (client, mut line) = modern(ConnectOptions { host: host.clone(), ..options() }).await;
        let call = started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        assert_eq!(poll.params["taskId"], "t1");
        line.answer(&poll, state("working")).await;
        let requests = json!({"who": {"method": "elicitation/create", "params": {"message": "Who?"}}});
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, with("input_required", "inputRequests", requests.clone())).await;
        let update = line.expect("tasks/update").await;
        assert_eq!(update.params["inputResponses"]["who"]["action"], "accept");
        line.answer(&update, json!({})).await;
        // A server repeats its questions until it has received the answers; the host is asked only
        // once.
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, with("input_required", "inputRequests", requests)).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, with("completed", "result", text("done"))).await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("done"), "{result:?}");
        assert_eq!(host.asked.lock().unwrap().len(), 1);
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_may_fail_or_be_cancelled_by_the_server() {
    run(async {
        let (client, mut line) = modern(options()).await;
        let failed = started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, with("failed", "error", json!({"code": -32603, "message": "out of paper"}))).await;
        assert_eq!(code_and_text(&failed.await.unwrap().unwrap_err()), ("E201", "out of paper".to_owned()));
        let cancelled = started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, with("cancelled", "statusMessage", json!("by the operator"))).await;
        assert_eq!(
            code_and_text(&cancelled.await.unwrap().unwrap_err()),
            ("E214", "by the operator".to_owned())
        );
        // No second cancellation is sent: the next message is the next call.
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_whose_caller_leaves_is_cancelled() {
    run(async {
        let (client, mut line) = modern(options()).await;
        let call = started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, state("working")).await;
        call.abort();
        let mut asked = line.message().await;
        // One more poll may have been in flight.
        while asked.method != "tasks/cancel" {
            assert!(
                matches!(asked.method.as_str(), "tasks/get" | "notifications/cancelled"),
                "{}",
                asked.text
            );
            asked = line.message().await;
        }
        assert_eq!(asked.params["taskId"], "t1");
        line.answer(&asked, json!({})).await;
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_that_cannot_be_read_or_ends_without_a_result_breaks_the_protocol() {
    run(async {
        let (client, mut line) = modern(options()).await;
        for answer in [json!({"resultType": "complete"}), json!({"taskId": "t1"}), state("completed")] {
            let call = started(&client, &mut line).await;
            let poll = line.expect("tasks/get").await;
            line.answer(&poll, answer.clone()).await;
            assert_eq!(code(call.await.unwrap()), "E217", "{answer}");
            if answer["status"] != "completed" {
                let cancel = line.expect("tasks/cancel").await;
                line.answer(&cancel, json!({})).await;
            }
        }
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_that_never_ends_is_cancelled_at_the_ceiling() {
    run(async {
        let (client, mut line) = modern(options()).await;
        let call = started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        jump(seconds(59)).await;
        line.answer(&poll, state("working")).await;
        for _ in 0..10 {
            let poll = line.expect("tasks/get").await;
            jump(seconds(59)).await;
            line.answer(&poll, state("working")).await;
        }
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!((code, text.as_str()), ("E202", "the task did not end before the call's ceiling"));
        line.expect("tasks/cancel").await;
    });
}

fn core(status: &str) -> Value {
    json!({"taskId": "t1", "status": status, "ttl": 60_000, "pollInterval": 20,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"})
}

async fn core_started(client: &Client, line: &mut ProcessLine) -> Call {
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call("work", Object::new()).as_task(Some(seconds(60))).await }
    });
    let asked = line.expect("tools/call").await;
    assert_eq!(asked.params["task"], json!({"ttl": 60_000}));
    line.answer(&asked, json!({"task": core("working")})).await;
    call
}

#[test]
fn a_task_of_2025_11_25_is_polled_and_its_result_fetched() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        for (status, result) in
            [("completed", text("done")), ("failed", json!({"content": [], "isError": true}))]
        {
            let call = core_started(&client, &mut line).await;
            let poll = line.expect("tasks/get").await;
            line.answer(&poll, core("working")).await;
            let poll = line.expect("tasks/get").await;
            line.answer(&poll, core(status)).await;
            let fetch = line.expect("tasks/result").await;
            assert_eq!(fetch.params["taskId"], "t1");
            line.answer(&fetch, result).await;
            assert_eq!(call.await.unwrap().unwrap().failed(), status == "failed");
        }
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_of_2025_11_25_asks_while_its_result_is_waited_for() {
    run(async {
        let host = TestHost::accepting();
        let (client, mut line) = legacy(ConnectOptions { host, ..options() }).await;
        let call = core_started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, core("input_required")).await;
        let fetch = line.expect("tasks/result").await;
        line.say(r#"{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"Who?"}}"#)
            .await;
        let answer = line.message().await;
        assert_eq!(
            (answer.id.as_deref(), &answer.value()["result"]["action"]),
            (Some("\"e1\""), &json!("accept"))
        );
        line.answer(&fetch, text("done")).await;
        call.await.unwrap().unwrap();
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn a_task_of_2025_11_25_is_cancelled_by_its_own_method() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = core_started(&client, &mut line).await;
        let poll = line.expect("tasks/get").await;
        line.answer(&poll, core("cancelled")).await;
        assert_eq!(code(call.await.unwrap()), "E214");
        let call = core_started(&client, &mut line).await;
        line.expect("tasks/get").await;
        call.abort();
        let mut methods = vec![line.message().await.method, line.message().await.method];
        methods.sort();
        assert_eq!(methods, ["notifications/cancelled", "tasks/cancel"], "the poll, and the task");
    });
}

#[test]
fn a_server_that_makes_no_task_is_taken_at_its_word() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = tokio::spawn({
            let client = client.clone();
            async move { client.call("work", Object::new()).as_task(None).await }
        });
        let asked = line.expect("tools/call").await;
        line.answer(&asked, text("at once")).await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("at once"), "{result:?}");
    });
}
