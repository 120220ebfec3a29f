//! Requests with all kinds of ids that JSON-RPC allows.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};
use trunkline_protocol::Era;

pub(crate) const REQUEST_IDS_STEP: Step = Step("request-id");

/// The largest integer that every JSON parser represents exactly (2^53 - 1).
const LARGEST_SAFE: i64 = 9_007_199_254_740_991;

pub(crate) static REQUEST_IDS: Probe = Probe {
    name: "request-ids",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let method = match stage.era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let ids: [Value; 4] = [json!(0), json!("7"), json!("trunkline-lint-ä"), json!(LARGEST_SAFE)];
    for id in ids {
        let message = request(stage.era(), &id, method, json!({}));
        // Accepts any answer, because a wrong id is what this probe looks for.
        let say = Say::new(REQUEST_IDS_STEP, &message, Expect::Any).variant(id.to_string());
        stage.speaker.say(say).await;
    }
}
