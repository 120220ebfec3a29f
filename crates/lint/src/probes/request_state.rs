//! Repeats a call that asked for input with a `requestState` that the server did not issue.

use super::{LineUse, Probe, Stage, TOOL_CALL_STEP};
use crate::{
    evidence::{Line, Step},
    rule::{Eras, Mode},
};
use serde_json::{Value, json};

pub(crate) const REQUEST_STATE_STEP: Step = Step("request-state");
/// The issued state with other arguments than the original call's.
pub(crate) const REPLAYED_STATE_STEP: Step = Step("replayed-state");

pub(crate) static REQUEST_STATE: Probe =
    Probe::new("request-state", Mode::Active, |stage| Box::pin(run(stage)))
        .eras(Eras::Modern)
        .line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let Some((name, arguments, state)) = stage.find(waiting) else { return };
    if !stage.known.take_call() {
        return;
    }
    let params = json!({"name": name, "arguments": arguments, "requestState": altered(&state)});
    stage.speaker.ask_variant((REQUEST_STATE_STEP, &name), "tools/call", params).await;
    let Some(arguments) = others(&arguments).filter(|_| stage.known.take_call()) else { return };
    let params = json!({"name": name, "arguments": arguments, "requestState": state});
    stage.speaker.ask_variant((REPLAYED_STATE_STEP, name), "tools/call", params).await;
}

/// The arguments with one string changed.
fn others(arguments: &Value) -> Option<Value> {
    let mut others = arguments.clone();
    let text = others.as_object_mut()?.values_mut().find(|value| value.is_string())?;
    *text = json!("trunkline-lint-another");
    Some(others)
}

/// The name, arguments and state of a call whose answer has a `requestState`.
fn waiting(line: &Line) -> Option<(String, Value, String)> {
    line.exchanges.iter().filter(|exchange| exchange.step == TOOL_CALL_STEP).find_map(|exchange| {
        let state = line.frames[exchange.answer?].json()?.pointer("/result/requestState")?.as_str()?;
        let params = line.frames[exchange.sent?].json()?.get("params")?;
        Some((params["name"].as_str()?.to_owned(), params["arguments"].clone(), state.to_owned()))
    })
}

/// The state with one changed character in the middle.
fn altered(state: &str) -> String {
    let middle = state.chars().count() / 2;
    let other = |c: char| if c == 'A' { 'B' } else { 'A' };
    state.chars().enumerate().map(|(at, c)| if at == middle { other(c) } else { c }).collect()
}
