//! `tool-call-works`: a call with valid arguments causes no internal error.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "tool-call-works",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "a call with arguments that fit `inputSchema` gives no internal error and no unknown method or tool",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "A protocol error ends in the client's log; the model learns nothing and cannot try anything else.",
    fix: "Catch what goes wrong inside the tool and answer with `isError` and a text.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        if asked.answer().is_none() {
            continue;
        }
        seen = true;
        if matches!(asked.error_code(), Some(-32603 | -32601)) {
            let message = format!("a call with arguments made from its schema fails: {}", asked.describe());
            findings.push(asked.finding(message, "/error").about(format!("tool {}", asked.variant())));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no call of a tool was answered")) }
}
