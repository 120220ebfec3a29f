//! Calls that become tasks: those of 2025-11-25 and those of the extension.

use crate::{
    cell::{Cell, Server, Way},
    exercise::{Run, make},
    recorder::{NAME, Recorded},
    script::Call,
};
use serde_json::json;
use std::time::Duration;
use trunkline_client::Carrier;
use trunkline_protocol::{Era, message::TaskStatus, method};

fn everything(carrier: Carrier) -> Cell {
    Cell { server: Server::Everything, carrier, era: Era::Legacy, way: Way::Auto }
}

fn rmcp(carrier: Carrier) -> Cell {
    Cell { server: Server::Rmcp, carrier, era: Era::Modern, way: Way::Auto }
}

/// Runs a task that asks the user while it works, and waits for its result. The tool can be called
/// only as a task, which the client must find out itself.
async fn research(carrier: Carrier) {
    let run = Run::begin(everything(carrier)).await;
    let arguments = json!({"topic": "python", "ambiguous": true});
    // The host selects the first choice of the form.
    make(&run.client, &Call::new("simulate-research-query", arguments, "python (programming)")).await;
    let sent = |name: &str| run.recorder.count(|event| event.request(name).is_some());
    assert!(sent(method::TASKS_GET) > 0 && sent(method::TASKS_RESULT) > 0);
    let tasks = run.client.tasks().await.unwrap();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].status, TaskStatus::Completed);
    assert_eq!(run.client.task(&tasks[0].id).await.unwrap().status, TaskStatus::Completed);
    run.client.close().await;
}

#[tokio::test]
async fn a_core_task_asks_and_completes_over_stdio() {
    research(Carrier::Stdio).await;
}

#[tokio::test]
async fn a_core_task_asks_and_completes_over_http() {
    research(Carrier::StreamableHttp).await;
}

#[tokio::test]
async fn a_core_task_that_is_given_up_is_cancelled() {
    let run = Run::begin(everything(Carrier::Stdio)).await;
    let call = Call::new("simulate-research-query", json!({"topic": "crabs"}), "");
    let pending = run.client.call(call.tool, call.arguments()).as_task(Some(Duration::from_mins(1)));
    let id = tokio::select! {
        result = pending => panic!("{result:?}"),
        id = run.recorder.until(looked_at) => id,
    };
    let cancelled = run.recorder.until(|event| event.request(method::TASKS_CANCEL)).await;
    run.recorder.until(|event| event.answers(&cancelled).then_some(())).await;
    assert_eq!(run.client.task(&id).await.unwrap().status, TaskStatus::Cancelled);
    run.client.close().await;
}

/// Returns the id of the task that the client polls.
fn looked_at(event: &Recorded) -> Option<String> {
    match event {
        Recorded::Sent(frame) if frame["method"] == method::TASKS_GET => {
            frame["params"]["taskId"].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The extension: the server decides that a call becomes a task, and asks the user while it works.
async fn extension(carrier: Carrier) {
    let run = Run::begin(rmcp(carrier)).await;
    make(&run.client, &Call::new("research", json!({}), format!("researched for {NAME}"))).await;
    assert!(run.recorder.count(|event| event.request(method::TASKS_UPDATE).is_some()) == 1);
    let pending = run.client.call("endure", trunkline_protocol::Object::new());
    let before = run.recorder.all().len();
    tokio::select! {
        result = pending => panic!("{result:?}"),
        _ = run.recorder.until_after(before, |event| event.request(method::TASKS_GET)) => {}
    }
    make(&run.client, &Call::new("cancelled", json!({"count": 1}), "1 cancelled")).await;
    run.client.close().await;
}

#[tokio::test]
async fn a_task_of_the_extension_asks_completes_and_is_cancelled_over_stdio() {
    extension(Carrier::Stdio).await;
}

#[tokio::test]
async fn a_task_of_the_extension_asks_completes_and_is_cancelled_over_http() {
    extension(Carrier::StreamableHttp).await;
}
