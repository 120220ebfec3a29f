//! Half a message, and then a whole one.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, Say},
};

pub const MALFORMED_STEP: Step = Step("malformed-json");
pub const MALFORMED_AFTER: Step = Step("after-malformed-json");

pub static MALFORMED: Probe = Probe {
    name: "malformed",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Risky,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let half = r#"{"jsonrpc":"2.0","id":9100,"method":"tools/li"#;
    // An answer is welcome but not required, so that nobody waits long for it.
    stage.speaker.say(Say::raw(MALFORMED_STEP, half, Expect::Nothing)).await;
    stage.sentinel(MALFORMED_AFTER).await;
}
