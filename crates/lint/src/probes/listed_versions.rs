//! Uses every other modern revision that the server says it supports.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Eras, Mode},
    wire::modern_meta,
};
use serde_json::{Value, json};
use trunkline_protocol::Revision;

pub(crate) const LISTED_VERSION_STEP: Step = Step("listed-version");

/// Maximum number of revisions that are tried.
const SAMPLE: usize = 3;

pub(crate) static LISTED_VERSIONS: Probe =
    Probe::new("listed-versions", Mode::Negative, |stage| Box::pin(run(stage))).eras(Eras::Modern);

async fn run(stage: &mut Stage) {
    let newest = Revision::NEWEST.as_str();
    let listed = stage.known.introduction["supportedVersions"].as_array().into_iter().flatten();
    // Revisions are dates; the earlier ones begin with `initialize`.
    let modern = |version: &&str| *version > newest && version.len() == newest.len();
    let versions: Vec<String> =
        listed.filter_map(Value::as_str).filter(modern).take(SAMPLE).map(str::to_owned).collect();
    for version in versions {
        let params = json!({"_meta": modern_meta(&version)});
        stage.speaker.ask_variant((LISTED_VERSION_STEP, version), "server/discover", params).await;
    }
}
