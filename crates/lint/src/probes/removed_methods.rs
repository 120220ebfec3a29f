//! Calls methods that were removed in the modern era.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
};
use serde_json::{Value, json};

pub(crate) const REMOVED_METHODS_STEP: Step = Step("removed-method");

pub(crate) static REMOVED_METHODS: Probe =
    Probe::new("removed-methods", Mode::Negative, |stage| Box::pin(run(stage))).eras(Eras::Modern);

async fn run(stage: &mut Stage) {
    let methods: [(&str, Value); 3] = [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "note:///trunkline-lint"})),
    ];
    for (method, params) in methods {
        stage.speaker.ask_variant((REMOVED_METHODS_STEP, method), method, params).await;
    }
}
