//! `unknown-tool-code`: an unknown tool is a protocol error.

use crate::{
    probes::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-tool-code",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Negative,
    summary: "a call of an unknown tool is refused with -32602",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "As a result with `isError` it looks like a tool that ran and failed; the model tries again instead of choosing another.",
    fix: "Answer with the JSON-RPC error -32602 instead of a result.",
    needs: &[&UNKNOWN_TOOL],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&UNKNOWN_TOOL, UNKNOWN_TOOL_STEP)?;
    if asked.error_code() == Some(-32602) {
        return Ok(Vec::new());
    }
    let message = format!("an unknown tool should be refused with -32602, but {}", asked.describe());
    Ok(vec![asked.finding(message, "")])
}
