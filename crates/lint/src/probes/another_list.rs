//! Fetches the tool list on a second connection.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub(crate) const ANOTHER_LIST_STEP: Step = Step("another-list");

pub(crate) static ANOTHER_LIST: Probe =
    Probe::new("another-list", Mode::Passive, |stage| Box::pin(run(stage)))
        .eras(Eras::Modern)
        .carriers(Carriers::StreamableHttp);

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability(List::Tools.capability()) {
        return;
    }
    let mut speaker = stage.another("another-list").await;
    speaker.ask(ANOTHER_LIST_STEP, List::Tools.method(), json!({})).await;
    stage.done(speaker).await;
}
