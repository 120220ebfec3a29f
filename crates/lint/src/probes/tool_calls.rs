//! Calls tools with valid arguments, with a missing one, and with one of a wrong type.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode, sample};
use serde_json::{Map, Value, json};

pub(crate) const TOOL_CALL_STEP: Step = Step("tool-call");
/// A call without the member `arguments`.
pub(crate) const TOOL_CALL_BARE_STEP: Step = Step("tool-call-bare");
pub(crate) const TOOL_CALL_LACKING_STEP: Step = Step("tool-call-lacking");
pub(crate) const TOOL_CALL_ILL_TYPED_STEP: Step = Step("tool-call-ill-typed");

pub(crate) static TOOL_CALLS: Probe = Probe::new("tool-calls", Mode::Active, |stage| Box::pin(run(stage)));

/// Maximum number of invalid calls per tool and kind of error.
const WRONG_PER_TOOL: usize = 3;

async fn run(stage: &mut Stage) {
    for tool in stage.callable_tools() {
        let (Some(name), Some(schema)) = (tool["name"].as_str(), tool.get("inputSchema")) else { continue };
        let arguments = sample::sample(schema);
        if !call(stage, (TOOL_CALL_STEP, name), name, &arguments).await {
            return;
        }
        let bare = arguments.as_object().is_some_and(Map::is_empty);
        if bare && !call(stage, (TOOL_CALL_BARE_STEP, name), name, &Value::Null).await {
            return;
        }
        for (field, wrong) in sample::without_required(schema, &arguments).into_iter().take(WRONG_PER_TOOL) {
            if !call(stage, (TOOL_CALL_LACKING_STEP, &format!("{name}:{field}")), name, &wrong).await {
                return;
            }
        }
        for (field, wrong) in sample::ill_typed(schema, &arguments).into_iter().take(WRONG_PER_TOOL) {
            if !call(stage, (TOOL_CALL_ILL_TYPED_STEP, &format!("{name}:{field}")), name, &wrong).await {
                return;
            }
        }
    }
}

/// Calls a tool. Returns false if the call budget is used up.
async fn call(stage: &mut Stage, at: (Step, &str), name: &str, arguments: &Value) -> bool {
    if !stage.known.take_call() {
        return false;
    }
    let count = stage.speaker.so_far(|line| line.exchanges.len());
    // Tokens are integers or strings; each kind is used.
    let whole = at.0 == TOOL_CALL_STEP;
    let token = if whole { json!(count) } else { json!(format!("trunkline-lint-{count}")) };
    let mut params = json!({"name": name});
    if !arguments.is_null() {
        params["arguments"] = arguments.clone();
    }
    params["_meta"] = json!({"progressToken": token});
    stage.speaker.ask_variant(at, "tools/call", params).await;
    true
}
