//! A fresh, idle process whose input ends.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};

/// The introduction of the process that is then left alone; its line holds how it departed.
pub const SHUTDOWN_STEP: Step = Step("before-shutdown");

pub static SHUTDOWN: Probe = Probe {
    name: "shutdown",
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Stdio,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    // What follows, the end of the input, is how every line ends.
    stage.speaker.introduce(SHUTDOWN_STEP).await;
}
