//! Fetches the tool list again, to see whether it stays the same.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const TOOLS_AGAIN_STEP: Step = Step("tools-again");

pub(crate) static LISTS_AGAIN: Probe = Probe::new("lists-again", Mode::Passive, |stage| Box::pin(run(stage)));

/// Number of repeated requests for the first page.
const TIMES: usize = 2;

async fn run(stage: &mut Stage) {
    if stage.known.has_capability("tools") {
        for _ in 0..TIMES {
            stage.speaker.ask(TOOLS_AGAIN_STEP, "tools/list", json!({})).await;
        }
    }
}
