//! Sets known and unknown log levels, and the least verbose one last.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
};
use serde_json::json;

pub(crate) const SET_LEVEL_STEP: Step = Step("set-level");
pub(crate) const UNKNOWN_LEVEL_STEP: Step = Step("unknown-level");

pub(crate) static LOGGING: Probe =
    Probe::new("logging", Mode::Negative, |stage| Box::pin(run(stage))).eras(Eras::Legacy);

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("logging") {
        return;
    }
    let speaker = &mut stage.speaker;
    let unknown = json!({"level": "trunkline-lint-no-such-level"});
    speaker.ask(UNKNOWN_LEVEL_STEP, "logging/setLevel", unknown).await;
    for level in ["debug", "emergency"] {
        speaker.ask_variant((SET_LEVEL_STEP, level), "logging/setLevel", json!({"level": level})).await;
    }
}
