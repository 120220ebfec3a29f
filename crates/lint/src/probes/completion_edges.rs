//! Completion of a listed argument from empty input, of an unknown prompt, and without the
//! capability.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
};
use serde_json::{Value, json};

pub(crate) const COMPLETED_STEP: Step = Step("completed");
pub(crate) const COMPLETION_UNKNOWN_STEP: Step = Step("completion-unknown");
pub(crate) const COMPLETION_UNDECLARED_STEP: Step = Step("completion-undeclared");

/// Number of arguments completed per list.
const SAMPLE: usize = 3;

pub(crate) static COMPLETION_EDGES: Probe =
    Probe::new("completion-edges", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let unknown = reference("ref/prompt", "name", "trunkline-lint-no-such-prompt", "argument");
    if !stage.known.has_capability("completions") {
        stage.speaker.ask(COMPLETION_UNDECLARED_STEP, "completion/complete", unknown).await;
        return;
    }
    for (about, params) in questions(stage) {
        stage.speaker.ask_variant((COMPLETED_STEP, about), "completion/complete", params).await;
    }
    stage.speaker.ask(COMPLETION_UNKNOWN_STEP, "completion/complete", unknown).await;
}

fn reference(kind: &str, member: &str, name: &str, argument: &str) -> Value {
    json!({"ref": {"type": kind, member: name}, "argument": {"name": argument, "value": ""}})
}

fn questions(stage: &Stage) -> Vec<(String, Value)> {
    let prompts = stage.listed(List::Prompts).into_iter().filter_map(|prompt| {
        let (name, argument) = (prompt["name"].as_str()?, prompt["arguments"][0]["name"].as_str()?);
        Some((format!("prompt {name}, {argument}"), reference("ref/prompt", "name", name, argument)))
    });
    let templates = stage.listed(List::Templates).into_iter().filter_map(|template| {
        let uri = template["uriTemplate"].as_str()?;
        let inside = uri.split_once('{')?.1.split_once('}')?.0;
        let variable = inside.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        let variable = variable.split([',', ':', '*']).next()?;
        Some((format!("template {uri}, {variable}"), reference("ref/resource", "uri", uri, variable)))
    });
    prompts.take(SAMPLE).chain(templates.take(SAMPLE)).collect()
}
