//! Sends a response to a request that the server did not make.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say},
};
use serde_json::json;

pub(crate) const CLIENT_RESPONSE_STEP: Step = Step("client-response");
pub(crate) const CLIENT_RESPONSE_AFTER: Step = Step("after-client-response");
pub(crate) const NO_REQUEST: &str = "trunkline-lint-no-such-request";

pub(crate) static CLIENT_RESPONSE: Probe =
    Probe::new("client-response", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let message = json!({"jsonrpc": "2.0", "id": NO_REQUEST, "result": {}});
    stage.speaker.say(Say::new(CLIENT_RESPONSE_STEP, &message, Expect::Nothing)).await;
    stage.sentinel(CLIENT_RESPONSE_AFTER).await;
}
