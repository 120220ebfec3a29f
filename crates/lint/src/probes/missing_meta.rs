//! Modern requests without a required `_meta` member, after complete ones.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
    wire::{Expect, Heard, HttpAsk, Say, Speaker, bytes, modern_meta},
};
use serde_json::{Value, json};
use trunkline_protocol::Revision;

pub(crate) const MISSING_META_STEP: Step = Step("missing-meta");
/// A request without any `_meta`, after complete ones on the same line.
pub(crate) const STATELESS_STEP: Step = Step("bare-after-complete");

/// The same as the first request on a line.
pub(crate) const BARE_FIRST_STEP: Step = Step("bare-first");

const REQUIRED: [&str; 2] =
    ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"];

pub(crate) static MISSING_META: Probe =
    Probe::new("missing-meta", Mode::Negative, |stage| Box::pin(run(stage))).eras(Eras::Modern);

async fn run(stage: &mut Stage) {
    let method = ["tools", "resources", "prompts"]
        .into_iter()
        .find(|name| stage.known.has_capability(name))
        .map_or("server/discover".to_owned(), |name| format!("{name}/list"));
    for member in REQUIRED {
        let mut meta = modern_meta(Revision::NEWEST.as_str());
        meta.as_object_mut().and_then(|meta| meta.remove(member));
        ask(&mut stage.speaker, (MISSING_META_STEP, member), &method, json!({"_meta": meta})).await;
    }
    let served = ask(&mut stage.speaker, (STATELESS_STEP, ""), &method, json!({})).await;
    if served.result().is_none() {
        return;
    }
    let mut fresh = stage.fresh("bare-first").await;
    ask(&mut fresh, (BARE_FIRST_STEP, ""), &method, json!({})).await;
    stage.done(fresh).await;
}

async fn ask(speaker: &mut Speaker, (step, variant): (Step, &str), method: &str, params: Value) -> Heard {
    let id = speaker.fresh_id();
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    // Over HTTP the headers are complete, so that only the body lacks something.
    if speaker.url().is_some() {
        let ask = HttpAsk::post(bytes(&message));
        let ask = ask.header("mcp-protocol-version", Revision::NEWEST.as_str());
        return speaker.http((step, variant), ask, Expect::Answer(id)).await;
    }
    speaker.say(Say::new(step, &message, Expect::Answer(id)).variant(variant)).await
}
