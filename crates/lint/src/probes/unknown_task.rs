//! Requests about a task that does not exist.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const UNKNOWN_TASK_STEP: Step = Step("unknown-task");

pub(crate) static UNKNOWN_TASK: Probe =
    Probe::new("unknown-task", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let params = json!({"taskId": "trunkline-lint-no-such-task"});
    stage.speaker.ask(UNKNOWN_TASK_STEP, "tasks/get", params).await;
}
