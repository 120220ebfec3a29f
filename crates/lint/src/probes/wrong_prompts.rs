//! A prompt that does not exist, and prompts without an argument that they require.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::{Value, json};

pub const UNKNOWN_PROMPT_STEP: Step = Step("unknown-prompt");
pub const LACKING_PROMPT_STEP: Step = Step("lacking-prompt");

/// Prompts that are asked for without their arguments.
const LACKING_LIMIT: usize = 3;

pub static WRONG_PROMPTS: Probe = Probe {
    name: "wrong-prompts",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability(List::Prompts.capability()) {
        return;
    }
    let params = json!({"name": "trunkline-lint-no-such-prompt"});
    stage.speaker.ask(UNKNOWN_PROMPT_STEP, "prompts/get", params).await;
    let requires = |prompt: &&Value| {
        let mut arguments = prompt["arguments"].as_array().into_iter().flatten();
        arguments.any(|argument| argument["required"] == true)
    };
    let prompts = stage.listed(List::Prompts);
    for prompt in prompts.iter().filter(requires).take(LACKING_LIMIT) {
        let Some(name) = prompt["name"].as_str() else { continue };
        let params = json!({"name": name, "arguments": {}});
        stage.speaker.ask_variant((LACKING_PROMPT_STEP, name), "prompts/get", params).await;
    }
}
