//! Opens and ends a subscription of the modern era.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub(crate) const LISTEN_STEP: Step = Step("listen");
pub(crate) const LISTEN_AFTER_STEP: Step = Step("after-listen");
pub(crate) const LISTEN_END_STEP: Step = Step("listen-end");

pub(crate) static LISTEN: Probe =
    Probe::new("listen", Mode::Passive, |stage| Box::pin(run(stage))).eras(Eras::Modern);

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
    stage.speaker.say(Say::new(LISTEN_STEP, &message, Expect::FirstMessage)).await;
    stage.sentinel(LISTEN_AFTER_STEP).await;
    if stage.speaker.url().is_none() {
        end(stage, &id).await;
    }
}

/// Cancels the subscription. Over HTTP this is not needed: closing the stream ends it.
async fn end(stage: &mut Stage, id: &Value) {
    let params = json!({"requestId": id});
    stage.speaker.tell(LISTEN_END_STEP, "notifications/cancelled", params).await;
}
