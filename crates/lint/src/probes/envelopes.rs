//! Messages that are JSON, but not valid JSON-RPC requests.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say, modern_meta},
};
use serde_json::{Value, json};
use trunkline_protocol::{Era, Revision};

pub(crate) const ENVELOPES_STEP: Step = Step("invalid-envelope");
pub(crate) const ENVELOPES_AFTER: Step = Step("after-invalid-envelopes");

pub(crate) static ENVELOPES: Probe =
    Probe::new("envelopes", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let params = match stage.era() {
        Era::Legacy => json!({}),
        Era::Modern => json!({"_meta": modern_meta(Revision::NEWEST.as_str())}),
    };
    let method = stage.basic_method();
    let broken: [(&str, Value); 5] = [
        ("no method", json!({"jsonrpc": "2.0", "id": 9001, "params": params})),
        ("jsonrpc 1.0", json!({"jsonrpc": "1.0", "id": 9002, "method": method, "params": params})),
        ("a method that is a number", json!({"jsonrpc": "2.0", "id": 9003, "method": 5, "params": params})),
        (
            "params that are a list",
            json!({"jsonrpc": "2.0", "id": 9004, "method": method, "params": [params]}),
        ),
        ("an id that is null", json!({"jsonrpc": "2.0", "id": null, "method": method, "params": params})),
    ];
    for (variant, message) in broken {
        stage.speaker.say(Say::new(ENVELOPES_STEP, &message, Expect::NoWait).variant(variant)).await;
    }
    stage.sentinel(ENVELOPES_AFTER).await;
}
