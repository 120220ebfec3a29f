//! A subscription of the modern era, opened and ended.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub const LISTEN_STEP: Step = Step("listen");
pub const LISTEN_AFTER_STEP: Step = Step("after-listen");
pub const LISTEN_END_STEP: Step = Step("listen-end");

pub static LISTEN: Probe = Probe {
    name: "listen",
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let declared = |path: &str| stage.known.has_capability(path);
    let wanted = [
        ("tools.listChanged", "toolsListChanged"),
        ("prompts.listChanged", "promptsListChanged"),
        ("resources.listChanged", "resourcesListChanged"),
    ];
    let Some((_, filter)) = wanted.into_iter().find(|(capability, _)| declared(capability)) else { return };
    let id = stage.speaker.fresh_id();
    let params = json!({"notifications": {filter: true}});
    let message = request(stage.era(), &id, "subscriptions/listen", params);
    stage.speaker.say(Say::new(LISTEN_STEP, &message, Expect::Told)).await;
    stage.sentinel(LISTEN_AFTER_STEP).await;
    if stage.speaker.url().is_none() {
        end(stage, &id).await;
    }
}

/// Over HTTP the end of the stream is the end of the subscription; elsewhere it has to be said.
async fn end(stage: &mut Stage, id: &Value) {
    let params = json!({"requestId": id});
    stage.speaker.tell(LISTEN_END_STEP, "notifications/cancelled", params).await;
}
