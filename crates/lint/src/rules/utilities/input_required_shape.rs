//! `input-required-shape`: a result that asks for input names the input, or has a state to send
//! back.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "input-required-shape",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    summary: "a result that asks for input says what for, or has a state to repeat",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", "Server Requirements (Basic Workflow)"),
    why: "The client has nothing to answer and nothing to repeat, so the call ends in a loop or an error.",
    fix: "Add `inputRequests`, `requestState`, or both.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let calls = case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let waiting: Vec<_> = calls
        .into_iter()
        .filter_map(|asked| {
            Some((asked, asked.result().filter(|result| result["resultType"] == "input_required")?))
        })
        .collect();
    let empty = waiting.into_iter().filter(|(_, result)| {
        result["inputRequests"].as_object().is_none_or(serde_json::Map::is_empty)
            && !result["requestState"].is_string()
    });
    Ok(empty
        .map(|(asked, _)| {
            asked.finding("a result asks for input and does not say which", "/result").about(asked.variant())
        })
        .collect())
}
