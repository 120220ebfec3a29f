//! Requests an unknown revision; in the legacy era as the first message of a line.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Heard, Say, initialize_params, modern_meta, request},
};
use serde_json::{Value, json};
use trunkline_protocol::Era;

pub(crate) const UNKNOWN_VERSION_STEP: Step = Step("unknown-version");
/// The same from a client with capabilities that no revision has. If it is answered with a result,
/// the plain one is not sent, because every handshake starts a process.
pub(crate) const LATER_CLIENT_STEP: Step = Step("later-client");

/// The requested revision.
pub(crate) const NO_SUCH_VERSION: &str = "1999-01-01";

pub(crate) static UNKNOWN_VERSION: Probe =
    Probe::new("unknown-version", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    match stage.era() {
        // Only the first message of a connection is a handshake.
        Era::Legacy => {
            let plain = initialize_params(NO_SUCH_VERSION);
            let mut later = plain.clone();
            later["capabilities"] = json!({
                "elicitation": {"form": {}, "url": {}},
                "extensions": {"dev.trunkline/lint": {}},
                "dev.trunkline/lint": {},
            });
            if shake_hands(stage, LATER_CLIENT_STEP, later).await.result().is_none() {
                shake_hands(stage, UNKNOWN_VERSION_STEP, plain).await;
            }
        }
        Era::Modern => {
            let params = json!({"_meta": modern_meta(NO_SUCH_VERSION)});
            stage.speaker.ask(UNKNOWN_VERSION_STEP, "server/discover", params).await;
        }
    }
}

/// Sends `initialize` as the first message of a new connection.
async fn shake_hands(stage: &mut Stage, step: Step, params: Value) -> Heard {
    let mut fresh = stage.fresh(UNKNOWN_VERSION.name).await;
    let id = fresh.fresh_id();
    let message = request(Era::Legacy, &id, "initialize", params);
    let heard = fresh.say(Say::new(step, &message, Expect::Answer(id))).await;
    stage.done(fresh).await;
    heard
}
