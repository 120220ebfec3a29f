//! Sends a complete modern request as the first message of a connection.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
};
use serde_json::json;

pub(crate) const FIRST_REQUEST_STEP: Step = Step("first-request");

pub(crate) static FIRST_REQUEST: Probe =
    Probe::new("first-request", Mode::Negative, |stage| Box::pin(run(stage)))
        .eras(Eras::Modern)
        .line(LineUse::Fresh);

async fn run(stage: &mut Stage) {
    stage.speaker.ask(FIRST_REQUEST_STEP, stage.plain_method(), json!({})).await;
}
