//! A read of a resource that does not exist.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub const UNKNOWN_RESOURCE_STEP: Step = Step("unknown-resource");

pub static UNKNOWN_RESOURCE: Probe = Probe {
    name: "unknown-resource",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if stage.known.has_capability("resources") {
        let params = json!({"uri": "trunkline-lint://no-such/resource"});
        stage.speaker.ask(UNKNOWN_RESOURCE_STEP, "resources/read", params).await;
    }
}
