//! Calls tools with hostile arguments: path traversal, shell and template injection, oversized
//! values.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::Mode,
    sample,
    wire::{Expect, Say, request},
};
use serde_json::{Value, json};

pub(crate) const ESCAPE_CALL_STEP: Step = Step("escape-call");
pub(crate) const COMMAND_CALL_STEP: Step = Step("command-call");
pub(crate) const LARGE_CALL_STEP: Step = Step("large-call");
pub(crate) const LARGE_CALL_AFTER: Step = Step("after-large-call");

const DEEP_CALL_STEP: Step = Step("deep-call");
pub(crate) const DEEP_CALL_AFTER: Step = Step("after-deep-call");

/// The result if a shell, template or database evaluates a payload; no payload contains it.
pub(crate) const PRODUCT: &str = "287861";

/// The last one is a plain name with a quote, which breaks concatenated SQL.
const COMMANDS: [&str; 5] =
    ["$(expr 41123 '*' 7)", "x; expr 41123 '*' 7", "{{41123*7}}", "x' || (41123*7) || '", "O'Neill"];

const PATHS: [&str; 2] = ["../../../../../../../../etc/passwd", "/etc/passwd"];

/// Parts of argument names that mean a path.
const PATH_NAMES: [&str; 5] = ["path", "file", "dir", "folder", "uri"];

/// Maximum number of arguments tried per tool.
const PER_TOOL: usize = 2;

/// Size of an oversized argument in bytes.
const LARGE: usize = 1024 * 1024;

/// Nesting depth of a too deep argument.
const DEEP: usize = 1000;

pub(crate) static INJECTIONS: Probe =
    Probe::new("injections", Mode::Active, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let tools = stage.callable_tools();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap_or_default();
        let arguments = sample::sample(&tool["inputSchema"]);
        for field in texts(tool).into_iter().take(PER_TOOL) {
            let lower = field.to_ascii_lowercase();
            let is_path = PATH_NAMES.iter().any(|part| lower.contains(part));
            let payloads = if is_path { PATHS.as_slice() } else { COMMANDS.as_slice() };
            let step = if is_path { ESCAPE_CALL_STEP } else { COMMAND_CALL_STEP };
            for payload in payloads {
                if !call(stage, (step, &format!("{name}:{field}")), name, with(&arguments, field, payload))
                    .await
                {
                    return;
                }
            }
        }
    }
    let large = tools.iter().find_map(|tool| Some((tool, texts(tool).into_iter().next()?)));
    if let Some((tool, field)) = large {
        let name = tool["name"].as_str().unwrap_or_default();
        let arguments = with(&sample::sample(&tool["inputSchema"]), field, &"a".repeat(LARGE));
        if call(stage, (LARGE_CALL_STEP, name), name, arguments).await {
            stage.sentinel(LARGE_CALL_AFTER).await;
        }
        let mut arguments = sample::sample(&tool["inputSchema"]);
        arguments[field] = json!("$deep");
        if stage.known.take_call() {
            deep_call(stage, name, arguments).await;
            stage.sentinel(DEEP_CALL_AFTER).await;
        }
    }
}

/// Calls the tool with nested arrays in place of `$deep`. The frame is built as text, to avoid a
/// deeply nested `Value`.
async fn deep_call(stage: &mut Stage, name: &str, arguments: Value) {
    let id = stage.speaker.fresh_id();
    let call = request(stage.era(), &id, "tools/call", json!({"name": name, "arguments": arguments}));
    let deep = format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let text = call.to_string().replacen("\"$deep\"", &deep, 1);
    stage.speaker.say(Say::raw(DEEP_CALL_STEP, text, Expect::Answer(id)).variant(name)).await;
}

/// The arguments of a tool that accept any string.
fn texts(tool: &Value) -> Vec<&str> {
    let properties = tool["inputSchema"]["properties"].as_object();
    let free = |schema: &Value| {
        schema["type"] == "string" && schema.get("enum").is_none() && schema.get("const").is_none()
    };
    properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| free(schema))
        .map(|(name, _)| name.as_str())
        .collect()
}

fn with(arguments: &Value, field: &str, payload: &str) -> Value {
    let mut arguments = arguments.clone();
    arguments[field] = json!(payload);
    arguments
}

async fn call(stage: &mut Stage, at: (Step, &str), name: &str, arguments: Value) -> bool {
    if !stage.known.take_call() {
        return false;
    }
    stage.speaker.ask_variant(at, "tools/call", json!({"name": name, "arguments": arguments})).await;
    true
}
