//! Calls a tool that does not exist.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const UNKNOWN_TOOL_STEP: Step = Step("unknown-tool");

pub(crate) static UNKNOWN_TOOL: Probe =
    Probe::new("unknown-tool", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    if stage.known.has_capability("tools") {
        let params = json!({"name": "trunkline-lint-no-such-tool", "arguments": {}});
        stage.speaker.ask(UNKNOWN_TOOL_STEP, "tools/call", params).await;
    }
}
