//! Calls that become tasks: those of 2025-11-25 and those of the extension.

use crate::{
    cell::{Cell, Server, Way},
    ear::{Heard, NAME},
    exercise::{Run, make},
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

/// A task that asks in its midst, and whose result is waited for. The tool takes calls as tasks only, which nobody has told
/// the client before.
async fn research(carrier: Carrier) {
    let run = Run::begin(everything(carrier)).await;
    let arguments = json!({"topic": "python", "ambiguous": true});
    // The first choice of the form is taken.
    make(&run.client, &Call::new("simulate-research-query", arguments, "python (programming)")).await;
    let sent = |name: &str| run.ear.count(|heard| heard.request(name).is_some());
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
        id = run.ear.until(looked_at) => id,
    };
    let cancelled = run.ear.until(|heard| heard.request(method::TASKS_CANCEL)).await;
    run.ear.until(|heard| heard.answers(&cancelled).then_some(())).await;
    assert_eq!(run.client.task(&id).await.unwrap().status, TaskStatus::Cancelled);
    run.client.close().await;
}

/// The task that the client looks at.
fn looked_at(heard: &Heard) -> Option<String> {
    match heard {
        Heard::Sent(frame) if frame["method"] == method::TASKS_GET => {
            frame["params"]["taskId"].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The extension: the server decides that a call is a task, and asks in its midst.
async fn extension(carrier: Carrier) {
    let run = Run::begin(rmcp(carrier)).await;
    make(&run.client, &Call::new("research", json!({}), format!("researched for {NAME}"))).await;
    assert!(run.ear.count(|heard| heard.request(method::TASKS_UPDATE).is_some()) == 1);
    let pending = run.client.call("endure", trunkline_protocol::Object::new());
    let before = run.ear.all().len();
    tokio::select! {
        result = pending => panic!("{result:?}"),
        _ = run.ear.until_after(before, |heard| heard.request(method::TASKS_GET)) => {}
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
