//! A truncated message, then a complete one.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say},
};

pub(crate) const MALFORMED_STEP: Step = Step("malformed-json");
pub(crate) const MALFORMED_AFTER: Step = Step("after-malformed-json");

pub(crate) static MALFORMED: Probe =
    Probe::new("malformed", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let half = r#"{"jsonrpc":"2.0","id":9100,"method":"tools/li"#;
    // An answer is optional, so the probe waits only for the quiet time.
    stage.speaker.say(Say::raw(MALFORMED_STEP, half, Expect::Nothing)).await;
    stage.sentinel(MALFORMED_AFTER).await;
}
