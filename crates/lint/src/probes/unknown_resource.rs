//! Requests an unknown resource, an unknown prompt, and a prompt without its required arguments.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
};
use serde_json::{Value, json};

pub(crate) const UNKNOWN_RESOURCE_STEP: Step = Step("unknown-resource");
pub(crate) const UNKNOWN_PROMPT_STEP: Step = Step("unknown-prompt");
pub(crate) const PROMPT_LACKING_STEP: Step = Step("prompt-without-arguments");

pub(crate) static UNKNOWN_RESOURCE: Probe =
    Probe::new("unknown-resource", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    if stage.known.has_capability("resources") {
        let params = json!({"uri": "trunkline-lint:///no-such-resource"});
        stage.speaker.ask(UNKNOWN_RESOURCE_STEP, "resources/read", params).await;
    }
    if !stage.known.has_capability("prompts") {
        return;
    }
    let params = json!({"name": "trunkline-lint-no-such-prompt", "arguments": {}});
    stage.speaker.ask(UNKNOWN_PROMPT_STEP, "prompts/get", params).await;
    if let Some(name) = needing_arguments(stage) {
        let params = json!({"name": name, "arguments": {}});
        stage.speaker.ask_variant((PROMPT_LACKING_STEP, name), "prompts/get", params).await;
    }
}

/// The first listed prompt that has a required argument.
fn needing_arguments(stage: &Stage) -> Option<String> {
    let needs = |prompt: &Value| {
        let arguments = prompt["arguments"].as_array();
        arguments.is_some_and(|all| all.iter().any(|argument| argument["required"] == true))
    };
    stage.listed(List::Prompts).into_iter().find(needs)?.get("name")?.as_str().map(str::to_owned)
}
