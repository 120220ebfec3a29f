//! Requests with all kinds of ids that JSON-RPC allows.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub(crate) const REQUEST_IDS_STEP: Step = Step("request-id");
pub(crate) const LARGE_ID_STEP: Step = Step("large-id");
const LARGE_ID_AFTER: Step = Step("after-large-id");

/// The largest integer that every JSON parser represents exactly (2^53 - 1).
const LARGEST_SAFE: i64 = 9_007_199_254_740_991;

/// The smallest positive integer that a double cannot represent (2^53 + 1).
pub(crate) const ABOVE_SAFE: i64 = 9_007_199_254_740_993;

pub(crate) static REQUEST_IDS: Probe =
    Probe::new("request-ids", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let method = stage.basic_method();
    let ids: [Value; 4] = [json!(0), json!("9407"), json!("trunkline-lint-ä"), json!(LARGEST_SAFE)];
    for id in ids {
        let message = request(stage.era(), &id, method, json!({}));
        // Accepts any answer, because a wrong id is what this probe looks for.
        let say = Say::new(REQUEST_IDS_STEP, &message, Expect::Any).variant(id.to_string());
        stage.speaker.say(say).await;
    }
    // Some servers answer no such id at all, so this does not wait for the answer.
    let message = request(stage.era(), &json!(ABOVE_SAFE), method, json!({}));
    stage.speaker.say(Say::new(LARGE_ID_STEP, &message, Expect::NoWait)).await;
    stage.sentinel(LARGE_ID_AFTER).await;
}
