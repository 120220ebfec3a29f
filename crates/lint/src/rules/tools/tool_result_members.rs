//! `tool-result-members`: members of results have the types of the schema.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "tool-result-members",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Active,
    summary: "`isError` of a result is a boolean, and `structuredContent` an object for clients of the legacy era",
    clause: Clause::of("2025-11-25", "schema", "CallToolResult"),
    why: "Typed clients refuse the result; others take an error for a success.",
    fix: "Write `\"isError\": true` or leave it out; wrap other values in an object.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        let Some(result) = asked.result() else { continue };
        seen = true;
        let about = format!("tool {}", asked.variant());
        if result.get("isError").is_some_and(|value| !value.is_boolean()) {
            findings
                .push(asked.finding("`isError` is not a boolean", "/result/isError").about(about.clone()));
        }
        let structured = result.get("structuredContent");
        if case.era() == Era::Legacy && structured.is_some_and(|value| !value.is_object()) {
            let message = "`structuredContent` is not an object";
            findings.push(asked.finding(message, "/result/structuredContent").about(about));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no call of a tool gave a result")) }
}
