//! Calls a tool as a task, polls it until it ends, and then cancels it.

use super::{Probe, Stage, task_questions};
use crate::{evidence::Step, rule::Mode, sample};
use serde_json::{Value, json};
use std::time::Duration;
use trunkline_protocol::{Era, message::TASKS_EXTENSION};

pub(crate) const TASK_CALL_STEP: Step = Step("task-call");
pub(crate) const TASK_GET_STEP: Step = Step("task-get");
pub(crate) const TASK_CANCEL_STEP: Step = Step("task-cancel");
pub(crate) const TASK_LATER_STEP: Step = Step("task-later");

/// Number of tasks created, to compare their ids.
const TASKS: usize = 3;

/// Maximum number of polls per task.
const POLLS: usize = 10;

/// Time between two polls.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) static TASK_CALLS: Probe = Probe::new("task-calls", Mode::Active, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let declared = match stage.era() {
        Era::Legacy => stage.known.has_capability("tasks.requests.tools.call"),
        Era::Modern => stage.known.introduction["capabilities"]["extensions"].get(TASKS_EXTENSION).is_some(),
    };
    let may = |tool: &Value| match stage.era() {
        Era::Legacy => matches!(tool["execution"]["taskSupport"].as_str(), Some("optional" | "required")),
        Era::Modern => true,
    };
    let Some(tool) = stage.callable_tools().into_iter().find(may).filter(|_| declared) else { return };
    let mut last = None;
    for _ in 0..TASKS {
        if !stage.known.take_call() {
            return;
        }
        let arguments = sample::sample(&tool["inputSchema"]);
        let params = json!({"name": tool["name"], "arguments": arguments});
        let params = match stage.era() {
            Era::Legacy => with(params, "task", json!({"ttl": 60_000})),
            Era::Modern => with(params, "_meta", task_questions::declaring()),
        };
        let name = tool["name"].as_str().unwrap_or_default();
        let heard = stage.speaker.ask_variant((TASK_CALL_STEP, name), "tools/call", params).await;
        let Some(result) = heard.result() else { return };
        let id = result.pointer("/task/taskId").or_else(|| result.get("taskId")).and_then(Value::as_str);
        last = id.map(str::to_owned);
    }
    if let Some(id) = last {
        follow(stage, &id).await;
    }
}

async fn follow(stage: &mut Stage, id: &str) {
    for _ in 0..POLLS {
        let heard = ask(stage, TASK_GET_STEP, "tasks/get", id).await;
        let status = heard.as_ref().and_then(|result| result["status"].as_str());
        if matches!(status, Some("completed" | "failed" | "cancelled") | None) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    ask(stage, TASK_CANCEL_STEP, "tasks/cancel", id).await;
    ask(stage, TASK_LATER_STEP, "tasks/get", id).await;
}

async fn ask(stage: &mut Stage, step: Step, method: &str, id: &str) -> Option<Value> {
    let params = match stage.era() {
        Era::Legacy => json!({"taskId": id}),
        Era::Modern => json!({"taskId": id, "_meta": task_questions::declaring()}),
    };
    stage.speaker.ask(step, method, params).await.result().cloned()
}

fn with(mut params: Value, member: &str, value: Value) -> Value {
    params[member] = value;
    params
}
