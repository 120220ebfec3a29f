//! `unknown-tool-refused`: a call of an unknown tool fails.

use crate::{
    probes::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-tool-refused",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a call of an unknown tool fails",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "A model that misspells a name believes that its call did something.",
    fix: "Answer a call of an unknown tool with the error -32602.",
    needs: &[&UNKNOWN_TOOL],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&UNKNOWN_TOOL, UNKNOWN_TOOL_STEP)?;
    match asked.result() {
        Some(result) if result["isError"] != true => {
            Ok(vec![asked.finding("a call of a tool that does not exist succeeds", "/result")])
        }
        Some(_) => Ok(Vec::new()),
        None if asked.error().is_some() => Ok(Vec::new()),
        None => Err(Skip::not_verified(asked.describe())),
    }
}
