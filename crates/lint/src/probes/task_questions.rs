//! Requests about an unknown task, in the form of each era.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode, wire::modern_meta};
use serde_json::{Value, json};
use trunkline_protocol::{Era, Revision, message::TASKS_EXTENSION};

pub(crate) const TASK_UNKNOWN_STEP: Step = Step("task-unknown");
pub(crate) const TASKS_LIST_STEP: Step = Step("tasks-list");
/// A request of a client that does not declare the extension.
pub(crate) const TASK_STRANGER_STEP: Step = Step("task-stranger");

const NO_SUCH_TASK: &str = "trunkline-lint-no-such-task";

pub(crate) static TASK_QUESTIONS: Probe =
    Probe::new("task-questions", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    match stage.era() {
        Era::Legacy => legacy(stage).await,
        Era::Modern => modern(stage).await,
    }
}

async fn legacy(stage: &mut Stage) {
    if !stage.known.has_capability("tasks") {
        return;
    }
    let mut methods = vec!["tasks/get", "tasks/result"];
    if stage.known.has_capability("tasks.cancel") {
        methods.push("tasks/cancel");
    }
    for method in methods {
        let params = json!({"taskId": NO_SUCH_TASK});
        stage.speaker.ask_variant((TASK_UNKNOWN_STEP, method), method, params).await;
    }
    if stage.known.has_capability("tasks.list") {
        stage.speaker.ask(TASKS_LIST_STEP, "tasks/list", json!({})).await;
    }
}

async fn modern(stage: &mut Stage) {
    let extensions = &stage.known.introduction["capabilities"]["extensions"];
    if extensions.get(TASKS_EXTENSION).is_none() {
        return;
    }
    for method in ["tasks/get", "tasks/cancel"] {
        let params = json!({"taskId": NO_SUCH_TASK, "_meta": declaring()});
        stage.speaker.ask_variant((TASK_UNKNOWN_STEP, method), method, params).await;
    }
    stage.speaker.ask(TASK_STRANGER_STEP, "tasks/get", json!({"taskId": NO_SUCH_TASK})).await;
}

/// The `_meta` of a client that declares the tasks extension.
pub(super) fn declaring() -> Value {
    let mut meta = modern_meta(Revision::NEWEST.as_str());
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"extensions": {TASKS_EXTENSION: {}}});
    meta
}
