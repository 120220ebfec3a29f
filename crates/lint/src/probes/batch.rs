//! A batch of two requests, then a plain request.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub(crate) const BATCH_STEP: Step = Step("batch");
pub(crate) const BATCH_AFTER: Step = Step("after-batch");

pub(crate) static BATCH: Probe =
    Probe::new("batch", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let method = stage.basic_method();
    let one = |id: i64| request(stage.era(), &json!(id), method, json!({}));
    let batch = Value::Array(vec![one(9201), one(9202)]);
    stage.speaker.say(Say::new(BATCH_STEP, &batch, Expect::Nothing)).await;
    stage.sentinel(BATCH_AFTER).await;
}
