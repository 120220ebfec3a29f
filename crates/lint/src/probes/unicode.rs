//! Gives text in several scripts to prompts and tools that repeat their arguments.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
    sample,
    wire::Heard,
};
use serde_json::{Map, Value, json};

pub(crate) const UNICODE_STEP: Step = Step("unicode");
const PLAIN_STEP: Step = Step("before-unicode");

/// The common prefix of both texts.
pub(crate) const MARK: &str = "trunkline-lint-";
const PLAIN: &str = "trunkline-lint-plain";
/// Letters of one, two, three and four bytes.
pub(crate) const TEXT: &str = "trunkline-lint-ä-日本-😀";

/// Maximum number of tools that are called.
const SAMPLE: usize = 3;

pub(crate) static UNICODE: Probe = Probe::new("unicode", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let with_arguments = |prompt: &Value| !prompt["arguments"].as_array().is_none_or(Vec::is_empty);
    if let Some(prompt) = stage.listed(List::Prompts).into_iter().find(with_arguments) {
        get(stage, &prompt).await;
    }
    let tools = stage.callable_tools();
    for (tool, property) in tools.iter().filter_map(|tool| Some((tool, free_text(tool)?))).take(SAMPLE) {
        call(stage, tool, property).await;
    }
}

async fn get(stage: &mut Stage, prompt: &Value) {
    let params = |text: &str| {
        let names = prompt["arguments"].as_array().into_iter().flatten();
        let names = names.filter_map(|argument| argument["name"].as_str());
        let given: Map<String, Value> = names.map(|name| (name.to_owned(), json!(text))).collect();
        json!({"name": prompt["name"], "arguments": given})
    };
    if repeats(&stage.speaker.ask(PLAIN_STEP, "prompts/get", params(PLAIN)).await) {
        let about = format!("prompt {}", prompt["name"].as_str().unwrap_or_default());
        stage.speaker.ask_variant((UNICODE_STEP, about), "prompts/get", params(TEXT)).await;
    }
}

async fn call(stage: &mut Stage, tool: &Value, property: &str) {
    let params = |text: &str| {
        let mut arguments = sample::sample(&tool["inputSchema"]);
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.insert(property.to_owned(), json!(text));
        }
        json!({"name": tool["name"], "arguments": arguments})
    };
    if !stage.known.take_call() {
        return;
    }
    let heard = stage.speaker.ask(PLAIN_STEP, "tools/call", params(PLAIN)).await;
    if repeats(&heard) && stage.known.take_call() {
        let about = format!("tool {}", tool["name"].as_str().unwrap_or_default());
        stage.speaker.ask_variant((UNICODE_STEP, about), "tools/call", params(TEXT)).await;
    }
}

/// True if a result contains the plain text.
fn repeats(heard: &Heard) -> bool {
    heard.result().is_some_and(|result| result["isError"] != true && result.to_string().contains(PLAIN))
}

/// The first property that takes any text.
fn free_text(tool: &Value) -> Option<&str> {
    let bound = ["enum", "const", "format", "pattern", "maxLength"];
    let properties = tool.pointer("/inputSchema/properties")?.as_object()?;
    let free = |property: &Value| {
        property["type"] == "string" && bound.iter().all(|keyword| property.get(keyword).is_none())
    };
    properties.iter().find(|(_, property)| free(property)).map(|(name, _)| name.as_str())
}
