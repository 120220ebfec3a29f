//! Sends a request after a blank line, and one that ends with CR LF.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Mode},
    wire::{Expect, Say, bytes, request},
};
use serde_json::json;

pub(crate) const LINE_ENDINGS_STEP: Step = Step("line-ending");
const BLANK_STEP: Step = Step("blank-line");

pub(crate) static LINE_ENDINGS: Probe =
    Probe::new("line-endings", Mode::Negative, |stage| Box::pin(run(stage)))
        .carriers(Carriers::Stdio)
        .line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    for variant in ["CR LF at its end", "a blank line before it"] {
        let id = stage.speaker.fresh_id();
        let mut message = bytes(&request(stage.era(), &id, stage.plain_method(), json!({}))).to_vec();
        if variant == "CR LF at its end" {
            message.push(b'\r');
        } else {
            stage.speaker.say(Say::raw(BLANK_STEP, "", Expect::NoWait)).await;
        }
        stage.speaker.say(Say::raw(LINE_ENDINGS_STEP, message, Expect::Answer(id)).variant(variant)).await;
    }
}
