//! A request for a method that does not exist.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const UNKNOWN_METHOD_STEP: Step = Step("unknown-method");

pub(crate) static UNKNOWN_METHOD: Probe =
    Probe::new("unknown-method", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    stage.speaker.ask(UNKNOWN_METHOD_STEP, "trunkline-lint/no-such-method", json!({})).await;
}
