//! Gets some of the listed prompts, with a value for every argument.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::{Map, Value, json};

pub const GET_PROMPT_STEP: Step = Step("get-prompt");

/// Prompts that are got.
pub const GET_PROMPTS_LIMIT: usize = 5;

pub static GET_PROMPTS: Probe = Probe {
    name: "get-prompts",
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    for prompt in stage.listed(List::Prompts).iter().take(GET_PROMPTS_LIMIT) {
        let Some(name) = prompt["name"].as_str() else { continue };
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        let named = arguments.filter_map(|argument| argument["name"].as_str());
        // Numbers are what most arguments take, also those that are words.
        let values: Map<String, Value> = named.map(|name| (name.to_owned(), json!("1"))).collect();
        let params = json!({"name": name, "arguments": values});
        stage.speaker.ask_variant((GET_PROMPT_STEP, name), "prompts/get", params).await;
        if stage.speaker.has_ended() {
            return;
        }
    }
}
