//! `completion-unknown`: completion for an unknown prompt is refused with -32602.

use crate::{
    probes::{COMPLETION_EDGES, COMPLETION_UNKNOWN_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "completion-unknown",
    group: Group::Utilities,
    level: Level::Info,
    mode: Mode::Negative,
    summary: "completion for an unknown prompt is refused with -32602",
    clause: Clause::of("2025-11-25", "server/utilities/completion", "Error Handling"),
    why: "A client that asks for the wrong prompt sees an empty list and looks for the fault elsewhere.",
    fix: "Answer the error -32602 when the prompt or template of `ref` is not known.",
    needs: &[&COMPLETION_EDGES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("completions")?;
    let asked = case.first(&COMPLETION_EDGES, COMPLETION_UNKNOWN_STEP)?;
    if asked.result().is_some() {
        return Ok(vec![asked.finding("completion for an unknown prompt gives a result", "/result")]);
    }
    match asked.error_code() {
        Some(-32602) => Ok(Vec::new()),
        Some(code) => {
            Ok(vec![asked.finding(format!("it is refused with {code} instead of -32602"), "/error/code")])
        }
        None => Err(Skip::not_verified(asked.describe())),
    }
}
