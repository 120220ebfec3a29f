//! Calls methods that were removed in the modern era.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use serde_json::{Value, json};

pub(crate) const REMOVED_METHODS_STEP: Step = Step("removed-method");

pub(crate) static REMOVED_METHODS: Probe = Probe {
    name: "removed-methods",
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

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
