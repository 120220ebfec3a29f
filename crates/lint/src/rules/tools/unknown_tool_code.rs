//! `unknown-tool-code`: the error for an unknown tool is one of the protocol.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-tool-code",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a call of a tool that does not exist is refused with -32602",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "With `isError` the model is told that the tool failed and tries it again; clients cannot tell a wrong name from a failure.",
    fix: "Answer the JSON-RPC error -32602 instead of a result with `isError`.",
    needs: &[&UNKNOWN_TOOL],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&UNKNOWN_TOOL, UNKNOWN_TOOL_STEP)?;
    if asked.answer().is_none() {
        return Err(Skip::not_verified(asked.describe()));
    }
    let as_result = asked.result().is_some_and(|result| result["isError"] == true);
    Ok(match asked.error_code() {
        Some(-32602) => Vec::new(),
        _ if as_result => vec![asked.finding("an unknown tool gives a result with `isError` instead of -32602", "/result/isError")],
        // Success is the matter of another rule.
        _ if asked.result().is_some() => Vec::new(),
        _ => vec![asked.finding(format!("an unknown tool should be refused with -32602, but {}", asked.describe()), "/error/code")],
    })
}
