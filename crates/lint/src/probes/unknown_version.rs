//! A revision that does not exist, as the first thing a server hears.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, Say, initialize_params, modern_meta, request},
};
use serde_json::json;
use trunkline_protocol::Era;

pub const UNKNOWN_VERSION_STEP: Step = Step("unknown-version");

/// The revision asked for.
pub const NO_SUCH_VERSION: &str = "1999-01-01";

pub static UNKNOWN_VERSION: Probe = Probe {
    name: "unknown-version",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let id = stage.speaker.fresh_id();
    let message = match stage.era() {
        Era::Legacy => request(Era::Legacy, &id, "initialize", initialize_params(NO_SUCH_VERSION)),
        Era::Modern => {
            let params = json!({"_meta": modern_meta(NO_SUCH_VERSION)});
            request(Era::Modern, &id, "server/discover", params)
        }
    };
    stage.speaker.say(Say::new(UNKNOWN_VERSION_STEP, &message, Expect::Answer(id))).await;
}
