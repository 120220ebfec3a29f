//! Subscribes to a listed resource and unsubscribes; without the capability, tries an unknown
//! resource.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Eras, Mode},
};
use serde_json::json;

pub(crate) const SUBSCRIBE_STEP: Step = Step("subscribe");
pub(crate) const UNSUBSCRIBE_STEP: Step = Step("unsubscribe");
pub(crate) const SUBSCRIBE_UNDECLARED_STEP: Step = Step("subscribe-undeclared");

pub(crate) static SUBSCRIBE: Probe =
    Probe::new("subscribe", Mode::Negative, |stage| Box::pin(run(stage))).eras(Eras::Legacy);

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("resources") {
        return;
    }
    if !stage.known.has_capability("resources.subscribe") {
        let params = json!({"uri": "trunkline-lint:no-such-resource"});
        stage.speaker.ask(SUBSCRIBE_UNDECLARED_STEP, "resources/subscribe", params).await;
        return;
    }
    let resources = stage.listed(List::Resources);
    let Some(uri) = resources.first().and_then(|resource| resource["uri"].as_str()) else { return };
    let params = json!({"uri": uri});
    let subscribed = stage.speaker.ask(SUBSCRIBE_STEP, "resources/subscribe", params.clone()).await;
    if subscribed.result().is_some() {
        stage.speaker.ask(UNSUBSCRIBE_STEP, "resources/unsubscribe", params).await;
    }
}
