//! Requests lists that the server does not declare.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const UNDECLARED_STEP: Step = Step("undeclared-feature");

pub(crate) static UNDECLARED: Probe = Probe::new("undeclared", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    for feature in ["tools", "resources", "prompts"] {
        if !stage.known.has_capability(feature) {
            let method = format!("{feature}/list");
            stage.speaker.ask_variant((UNDECLARED_STEP, feature), &method, json!({})).await;
        }
    }
}
