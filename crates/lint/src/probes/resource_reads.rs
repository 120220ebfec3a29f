//! Reads of a few listed resources.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Settled, Step},
    rule::Mode,
};
use serde_json::{Value, json};

pub(crate) const RESOURCE_READ_STEP: Step = Step("resource-read");

pub(crate) static RESOURCE_READS: Probe =
    Probe::new("resource-reads", Mode::Passive, |stage| Box::pin(run(stage)));

/// Maximum number of resources read.
const SAMPLE: usize = 5;

/// Resources with a larger declared `size` are not read.
const MOST_BYTES: u64 = 1024 * 1024;

async fn run(stage: &mut Stage) {
    let small = |resource: &Value| resource["size"].as_u64().is_none_or(|size| size <= MOST_BYTES);
    let resources = stage.listed(List::Resources).into_iter().filter(small);
    let uris: Vec<String> =
        resources.filter_map(|resource| Some(resource["uri"].as_str()?.to_owned())).take(SAMPLE).collect();
    stage.speaker.patience(stage.known.owed);
    for uri in uris {
        let heard = stage
            .speaker
            .ask_variant((RESOURCE_READ_STEP, uri.as_str()), "resources/read", json!({"uri": uri}))
            .await;
        if matches!(heard.settled, Settled::Silent(_)) {
            break;
        }
    }
    stage.speaker.patience(stage.known.patience());
}
