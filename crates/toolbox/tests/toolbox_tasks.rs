//! Tools that run as tasks (tasks extension).

use futures_util::FutureExt;
use serde_json::{Value, json};
use std::{future::pending, time::Duration};
use trunkline_protocol::{Caller, Era, Fault, Handler, Part};
use trunkline_toolbox::{Context, TaskMode, Tool, ToolError, Toolbox, Trial};

const TASKS: &str = "io.modelcontextprotocol/tasks";

fn form() -> trunkline_protocol::Raw {
    json!({"type": "object", "properties": {"name": {"type": "string"}}}).into()
}

async fn asks_two(cx: Context) -> Result<String, ToolError> {
    let (first, second) = (cx.question("first"), cx.question("second"));
    let (one, two) = tokio::join!(first.elicit_form("1?", form()), second.elicit_form("2?", form()));
    Ok(format!("{} {}", one?.content.unwrap_or_else(trunkline_protocol::Raw::null), two?.action))
}

async fn asks_then_escalates(cx: Context) -> Result<String, ToolError> {
    let answer = cx.question("user_name").elicit_form("Who?", form()).await?;
    let name: String = answer.content.and_then(|c| c.member_as("name")).unwrap_or_default();
    let in_background = cx.become_task().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(format!("hello {name}, {in_background}"))
}

async fn panics() -> String {
    pending::<String>().now_or_never().expect("a panic that nobody may read")
}

fn toolbox() -> Toolbox {
    let compute = Tool::new("compute", |cx: Context| async move {
        cx.progress(1, None, "half way");
        tokio::time::sleep(Duration::from_mins(1)).await;
        "computed"
    });
    Toolbox::new("test", "1.0")
        .tool(compute.task(TaskMode::Optional).deadline(Duration::from_secs(90)))
        .tool(Tool::new("fails", || async { Err::<(), _>(ToolError::new("no")) }).task(TaskMode::Required))
        .tool(Tool::new("panics", panics).task(TaskMode::Optional))
        .tool(Tool::new("asks", asks_two).task(TaskMode::Optional))
        .tool(Tool::new("escalates", asks_then_escalates).task(TaskMode::OnDemand))
        .tool(Tool::new("hangs", pending::<()>).task(TaskMode::Optional))
        .task_ttl(Duration::from_hours(1))
        .build()
        .expect("a toolbox")
}

fn follower(toolbox: &Toolbox) -> Trial {
    toolbox.test().capabilities(json!({"elicitation": {}, "extensions": {TASKS: {}}}))
}

async fn ask(trial: &Trial, method: &str, params: Value) -> Result<Value, Fault> {
    trial.run(method, params).await.outcome.map(|result| result.decode().expect("JSON"))
}

async fn start(trial: &Trial, tool: &str) -> Value {
    ask(trial, "tools/call", json!({"name": tool, "arguments": {}})).await.expect("a task")
}

async fn get(trial: &Trial, id: &Value) -> Value {
    ask(trial, "tasks/get", json!({"taskId": id})).await.expect("a task")
}

async fn settled(trial: &Trial, id: &Value) -> Value {
    loop {
        let task = get(trial, id).await;
        if task["status"] != "working" {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

fn code(fault: &Fault) -> i64 {
    fault.to_error(Era::Modern).code
}

#[tokio::test(start_paused = true)]
async fn a_call_becomes_a_task_and_its_result_is_fetched() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let created = start(&trial, "compute").await;
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(3_600_000), &json!(500)));
    assert!(created["createdAt"].as_str().unwrap().ends_with('Z'));
    for absent in ["result", "error", "inputRequests", "task", "requestState", "ttl"] {
        assert_eq!(created.get(absent), None, "{absent}");
    }
    let id = &created["taskId"];
    tokio::time::sleep(Duration::from_secs(1)).await;
    let working = get(&trial, id).await;
    assert_eq!((&working["resultType"], &working["statusMessage"]), (&json!("complete"), &json!("half way")));
    assert_eq!(working.get("result"), None);
    let done = settled(&trial, id).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["content"], json!([{"type": "text", "text": "computed"}]));
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(toolbox.load(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_tools_failure_completes_and_a_broken_tool_fails() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let failed = settled(&trial, &start(&trial, "fails").await["taskId"]).await;
    assert_eq!((&failed["status"], &failed["result"]["isError"]), (&json!("completed"), &json!(true)));
    let broken = settled(&trial, &start(&trial, "panics").await["taskId"]).await;
    assert_eq!((&broken["status"], &broken["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert_eq!(broken["error"]["message"], "`panics` failed unexpectedly");
    assert_eq!(broken.get("result"), None);
}

#[tokio::test(start_paused = true)]
async fn callers_who_cannot_follow_tasks_get_none() {
    let toolbox = toolbox();
    let plain = toolbox.test();
    let result = ask(&plain, "tools/call", json!({"name": "compute"})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "computed");
    for (method, params) in [
        ("tools/call", json!({"name": "fails"})),
        ("tasks/get", json!({"taskId": "x"})),
        ("tasks/update", json!({"taskId": "x", "inputResponses": {}})),
        ("tasks/cancel", json!({"taskId": "x"})),
    ] {
        let error = ask(&plain, method, params).await.unwrap_err().to_error(Era::Modern);
        assert_eq!(error.code, -32021, "{method}");
        let data: Value = error.data.unwrap().decode().unwrap();
        assert_eq!(data["requiredCapabilities"], json!({"extensions": {TASKS: {}}}));
    }
    let discovered = ask(&plain, "server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["capabilities"]["extensions"], json!({TASKS: {}}));
    assert_eq!(discovered["capabilities"].get("tasks"), None);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_start_no_task() {
    let toolbox = toolbox();
    let call = json!({"name": "compute", "arguments": {"odd": 1}});
    let refused = ask(&follower(&toolbox), "tools/call", call).await.unwrap();
    assert_eq!((refused.get("taskId"), &refused["isError"]), (None, &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_work_and_is_said_twice_without_harm() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let created = start(&trial, "hangs").await;
    let id = &created["taskId"];
    tokio::task::yield_now().await;
    assert_eq!(toolbox.load(), (1, 0));
    for _ in 0..2 {
        let said = ask(&trial, "tasks/cancel", json!({"taskId": id})).await.unwrap();
        assert_eq!(said, json!({"resultType": "complete"}));
        assert_eq!(get(&trial, id).await["status"], "cancelled");
    }
    tokio::task::yield_now().await;
    assert_eq!(toolbox.load(), (0, 0), "the slot is free again");
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_task_are_answered_one_by_one() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let created = start(&trial, "asks").await;
    let id = &created["taskId"];
    let waiting = settled(&trial, id).await;
    assert_eq!(waiting["status"], "input_required");
    let requests = waiting["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!(requests["first"]["method"], "elicitation/create");
    let answer = |key: &str, value: Value| {
        let params = json!({"taskId": id, "inputResponses": {key: value}});
        let trial = trial.clone();
        async move { ask(&trial, "tasks/update", params).await }
    };
    assert_eq!(code(&answer("first", json!(7)).await.unwrap_err()), -32602);
    assert_eq!(answer("unknown", json!({})).await.unwrap(), json!({"resultType": "complete"}));
    assert_eq!(get(&trial, id).await["inputRequests"].as_object().unwrap().len(), 2);
    answer("first", json!({"action": "accept", "content": {"name": "x"}})).await.unwrap();
    let waiting = get(&trial, id).await;
    assert_eq!(waiting["status"], "input_required");
    assert_eq!(waiting["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["second"]);
    answer("second", json!({"action": "decline"})).await.unwrap();
    let done = settled(&trial, id).await;
    assert_eq!(done["result"]["content"][0]["text"], r#"{"name":"x"} decline"#);
    assert_eq!(done.get("inputRequests"), None);
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_ask_first_and_go_to_the_background_then() {
    let toolbox = toolbox();
    let accept = json!({"action": "accept", "content": {"name": "Alice"}});
    let trial = follower(&toolbox).answer("elicitation/create", accept.clone());
    let run = trial.run_tool("escalates", json!({})).await;
    assert_eq!(run.questions.len(), 1, "asked as part of the call, not of the task");
    let created: Value = run.outcome.unwrap().decode().unwrap();
    assert_eq!(created["resultType"], "task");
    let done = settled(&trial, &created["taskId"]).await;
    assert_eq!(done["result"]["content"][0]["text"], "hello Alice, true");
    let plain = toolbox.test().capabilities(json!({"elicitation": {}})).answer("elicitation/create", accept);
    let result = plain.call("escalates", json!({})).await.to_raw();
    assert!(result.as_str().contains("hello Alice, false"), "{result}");
}

#[tokio::test(start_paused = true)]
async fn s05_to_others_a_task_does_not_exist() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let id = start(&trial, "hangs").await["taskId"].clone();
    let other = Caller::named("other");
    let other = trial.clone().caller(other);
    for (method, extra) in [("tasks/get", None), ("tasks/cancel", None), ("tasks/update", Some(json!({})))] {
        let params = |id: &Value| match &extra {
            Some(responses) => json!({"taskId": id, "inputResponses": responses}),
            None => json!({"taskId": id}),
        };
        let foreign = ask(&other, method, params(&id)).await.unwrap_err();
        let absent = ask(&other, method, params(&json!("absent"))).await.unwrap_err();
        assert_eq!((code(&foreign), foreign.message()), (-32602, absent.message()));
    }
    let wish = json!({"notifications": {"taskIds": [id]}});
    let mut listening = toolbox.call(other.request("subscriptions/listen", wish.clone()));
    let Some(Part::Notification(accepted)) = listening.next().await else { panic!("not acknowledged") };
    assert_eq!(accepted.params.unwrap().as_str(), r#"{"notifications":{}}"#);
    let mut own = toolbox.call(trial.request("subscriptions/listen", wish));
    assert!(matches!(own.next().await, Some(Part::Notification(_))));
    ask(&trial, "tasks/cancel", json!({"taskId": id})).await.unwrap();
    let Some(Part::Notification(told)) = own.next().await else { panic!("not told") };
    assert_eq!(told.method, "notifications/tasks");
    assert_eq!(told.params.unwrap().member_as::<String>("status").unwrap(), "cancelled");
    assert!(listening.next().now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn tasks_are_bounded_and_expire() {
    let toolbox = toolbox();
    let trial = follower(&toolbox);
    let first = start(&trial, "hangs").await["taskId"].clone();
    for _ in 1..64 {
        start(&trial, "hangs").await;
    }
    let refused = ask(&trial, "tools/call", json!({"name": "hangs"})).await.unwrap_err();
    assert!(refused.message().contains("too many tasks"), "{refused}");
    tokio::time::sleep(Duration::from_secs(3601)).await;
    assert_eq!(code(&ask(&trial, "tasks/get", json!({"taskId": first})).await.unwrap_err()), -32602);
    assert_eq!(toolbox.load(), (0, 0), "what expired does not run on");
    start(&trial, "hangs").await;
}
