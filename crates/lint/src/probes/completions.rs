//! Completion of an argument from empty input.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
};
use serde_json::json;

pub(crate) const COMPLETION_STEP: Step = Step("completion");

pub(crate) static COMPLETIONS: Probe =
    Probe::new("completions", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let prompt = stage.listed(List::Prompts).into_iter().find_map(|prompt| {
        let argument = prompt["arguments"].get(0)?.get("name")?.as_str()?;
        Some((prompt["name"].as_str()?.to_owned(), argument.to_owned()))
    });
    let Some((name, argument)) = prompt else { return };
    let params =
        json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": ""}});
    stage.speaker.ask(COMPLETION_STEP, "completion/complete", params).await;
}
