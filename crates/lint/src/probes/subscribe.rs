//! Subscribes to a listed resource, and unsubscribes again.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub const SUBSCRIBE_STEP: Step = Step("subscribe");

pub static SUBSCRIBE: Probe = Probe {
    name: "subscribe",
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("resources.subscribe") {
        return;
    }
    let resources = stage.listed(List::Resources);
    let Some(uri) = resources.iter().find_map(|resource| resource["uri"].as_str()) else { return };
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        stage.speaker.ask_variant((SUBSCRIBE_STEP, method), method, json!({"uri": uri})).await;
    }
}
