//! A `ping` request of the legacy era.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub(crate) const PING_STEP: Step = Step("ping");

pub(crate) static PING: Probe = Probe {
    name: "ping",
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    stage.speaker.ask(PING_STEP, "ping", json!({})).await;
}
