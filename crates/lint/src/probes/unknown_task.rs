//! Questions about a task that is not there; and about tasks at all, where they are not declared.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::modern_meta,
};
use serde_json::{Value, json};
use trunkline_protocol::{Era, Revision};

pub const UNKNOWN_TASK_STEP: Step = Step("unknown-task");
pub const TASKS_LIST_STEP: Step = Step("tasks-list");
pub const TASKS_UNDECLARED_STEP: Step = Step("tasks-undeclared");
/// Asked by a client that does not declare the extension.
pub const TASK_STRANGER_STEP: Step = Step("task-stranger");

/// The extension of the modern era.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

const NO_SUCH_TASK: &str = "trunkline-lint-no-such-task";

pub static UNKNOWN_TASK: Probe = Probe {
    name: "unknown-task",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    match stage.era() {
        Era::Legacy => legacy(stage).await,
        Era::Modern => modern(stage).await,
    }
}

async fn legacy(stage: &mut Stage) {
    if !stage.known.has_capability("tasks") {
        stage.speaker.ask(TASKS_UNDECLARED_STEP, "tasks/list", json!({})).await;
        return;
    }
    let mut methods = vec!["tasks/get", "tasks/result"];
    if stage.known.has_capability("tasks.cancel") {
        methods.push("tasks/cancel");
    }
    for method in methods {
        let params = json!({"taskId": NO_SUCH_TASK});
        stage.speaker.ask_variant((UNKNOWN_TASK_STEP, method), method, params).await;
    }
    if stage.known.has_capability("tasks.list") {
        stage.speaker.ask(TASKS_LIST_STEP, "tasks/list", json!({})).await;
    }
}

async fn modern(stage: &mut Stage) {
    let extensions = &stage.known.introduction["capabilities"]["extensions"];
    if extensions.get(TASKS_EXTENSION).is_none() {
        let params = json!({"taskId": NO_SUCH_TASK});
        stage.speaker.ask(TASKS_UNDECLARED_STEP, "tasks/get", params).await;
        return;
    }
    for method in ["tasks/get", "tasks/cancel"] {
        let params = json!({"taskId": NO_SUCH_TASK, "_meta": declaring()});
        stage.speaker.ask_variant((UNKNOWN_TASK_STEP, method), method, params).await;
    }
    stage.speaker.ask(TASK_STRANGER_STEP, "tasks/get", json!({"taskId": NO_SUCH_TASK})).await;
}

/// The `_meta` of a client that knows tasks.
pub(super) fn declaring() -> Value {
    let mut meta = modern_meta(Revision::NEWEST.as_str());
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"extensions": {TASKS_EXTENSION: {}}});
    meta
}
