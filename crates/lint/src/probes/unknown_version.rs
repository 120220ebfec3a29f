//! Requests an unknown revision; in the legacy era as the first message of a line.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, Say, initialize_params, modern_meta, request},
};
use serde_json::json;
use trunkline_protocol::Era;

pub(crate) const UNKNOWN_VERSION_STEP: Step = Step("unknown-version");

/// The requested revision.
pub(crate) const NO_SUCH_VERSION: &str = "1999-01-01";

pub(crate) static UNKNOWN_VERSION: Probe = Probe {
    name: "unknown-version",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    match stage.era() {
        // Only the first message of a connection is a handshake.
        Era::Legacy => {
            let mut fresh = stage.fresh(UNKNOWN_VERSION.name).await;
            let id = fresh.fresh_id();
            let message = request(Era::Legacy, &id, "initialize", initialize_params(NO_SUCH_VERSION));
            fresh.say(Say::new(UNKNOWN_VERSION_STEP, &message, Expect::Answer(id))).await;
            stage.done(fresh).await;
        }
        Era::Modern => {
            let params = json!({"_meta": modern_meta(NO_SUCH_VERSION)});
            stage.speaker.ask(UNKNOWN_VERSION_STEP, "server/discover", params).await;
        }
    }
}
