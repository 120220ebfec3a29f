//! `structured-text`: structured results can be read without the schema.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "structured-text",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Active,
    summary: "a result with `structuredContent` also carries it as a text",
    clause: Clause::of("2025-11-25", "server/tools", "Structured Content"),
    why: "Clients that do not know structured content show an empty result.",
    fix: "Add a block of type text with the JSON of `structuredContent`.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        let Some(result) = asked.result().filter(|result| result.get("structuredContent").is_some()) else {
            continue;
        };
        seen = true;
        let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
        if blocks.filter(|block| block["type"] == "text").count() == 0 {
            let message = "the result has `structuredContent` and no text";
            findings
                .push(asked.finding(message, "/result/content").about(format!("tool {}", asked.variant())));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no result had `structuredContent`")) }
}
