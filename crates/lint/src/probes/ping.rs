//! A `ping` request of the legacy era.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
};
use serde_json::json;

pub(crate) const PING_STEP: Step = Step("ping");

pub(crate) static PING: Probe =
    Probe::new("ping", Mode::Passive, |stage| Box::pin(run(stage))).eras(Eras::Legacy);

async fn run(stage: &mut Stage) {
    stage.speaker.ask(PING_STEP, "ping", json!({})).await;
}
