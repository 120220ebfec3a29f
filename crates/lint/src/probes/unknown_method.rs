//! A request for a method that does not exist.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub(crate) const UNKNOWN_METHOD_STEP: Step = Step("unknown-method");

pub(crate) static UNKNOWN_METHOD: Probe = Probe {
    name: "unknown-method",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    stage.speaker.ask(UNKNOWN_METHOD_STEP, "trunkline-lint/no-such-method", json!({})).await;
}
