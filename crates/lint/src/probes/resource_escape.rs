//! Reads files of the machine as resources: by URI, and by path traversal in a template.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
};
use serde_json::json;

pub(crate) const RESOURCE_ESCAPE_STEP: Step = Step("resource-escape");

/// A world-readable file of every Unix that no server has a reason to serve.
const FILE: &str = "etc/passwd";

/// Maximum number of templates tried.
const TEMPLATES: usize = 3;

pub(crate) static RESOURCE_ESCAPE: Probe =
    Probe::new("resource-escape", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("resources") {
        return;
    }
    let mut uris = vec![format!("file:///{FILE}")];
    let templates = stage.listed(List::Templates).into_iter();
    let templates = templates.filter_map(|item| Some(item["uriTemplate"].as_str()?.to_owned()));
    for template in templates.take(TEMPLATES) {
        let Some((before, rest)) = template.split_once('{') else { continue };
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        // Templates with a second variable are skipped.
        if after.contains('{') {
            continue;
        }
        let up = "../".repeat(8);
        uris.push(format!("{before}{up}{FILE}{after}"));
        uris.push(format!("{before}{}{after}", format!("{up}{FILE}").replace('/', "%2f")));
    }
    for uri in uris {
        stage.speaker.ask_variant((RESOURCE_ESCAPE_STEP, &uri), "resources/read", json!({"uri": uri})).await;
    }
}
