//! Reads some of the listed resources.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub const READ_RESOURCE_STEP: Step = Step("read-resource");

/// Resources that are read.
pub const READ_RESOURCES_LIMIT: usize = 5;

pub static READ_RESOURCES: Probe = Probe {
    name: "read-resources",
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let resources = stage.listed(List::Resources);
    let uris = resources.iter().filter_map(|resource| resource["uri"].as_str());
    for uri in uris.take(READ_RESOURCES_LIMIT) {
        let params = json!({"uri": uri});
        stage.speaker.ask_variant((READ_RESOURCE_STEP, uri), "resources/read", params).await;
        if stage.speaker.has_ended() {
            return;
        }
    }
}
