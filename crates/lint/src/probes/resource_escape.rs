//! Reads of resources that no server should give: files of the machine, by address and out of a template.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{Line, List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub const RESOURCE_ESCAPE_STEP: Step = Step("resource-escape");

/// A file that every Unix has, anyone may read, and no server has a reason to serve.
const FILE: &str = "etc/passwd";

/// Templates that are tried.
const TEMPLATES: usize = 3;

pub static RESOURCE_ESCAPE: Probe = Probe {
    name: "resource-escape",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("resources") {
        return;
    }
    let mut uris = vec![format!("file:///{FILE}")];
    for template in stage.speaker.so_far(templates).into_iter().take(TEMPLATES) {
        let Some((before, rest)) = template.split_once('{') else { continue };
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        // A second variable would make the address another one.
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

fn templates(line: &Line) -> Vec<String> {
    line.listed(List::Templates).filter_map(|item| item["uriTemplate"].as_str()).map(str::to_owned).collect()
}
