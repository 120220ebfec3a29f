//! Sends a request with members of `_meta` that the server does not know, a short and a long one.

use super::{LineUse, Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const METADATA_STEP: Step = Step("metadata");
pub(crate) const LONG_REQUEST_STEP: Step = Step("long-request");
pub(crate) const LONG_REQUEST_AFTER: Step = Step("after-long-request");

/// Length of the long member: more than a pipe or a small buffer holds.
pub(crate) const LONG: usize = 200 * 1024;

pub(crate) static METADATA: Probe =
    Probe::new("metadata", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let method = stage.plain_method();
    let params = json!({"_meta": {"dev.trunkline/lint": "probing"}});
    let heard = stage.speaker.ask(METADATA_STEP, method, params).await;
    if heard.result().is_none() {
        return;
    }
    let params = json!({"_meta": {"dev.trunkline/lint": "x".repeat(LONG)}});
    stage.speaker.ask(LONG_REQUEST_STEP, method, params).await;
    stage.sentinel(LONG_REQUEST_AFTER).await;
}
