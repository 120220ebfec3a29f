//! `result-size`: results fit into the context.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    report::estimate,
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "result-size",
    group: Group::Context,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "a call with plain arguments returns at most 25,000 tokens",
    clause: Clause::practice("client limits", "context cost"),
    why: "Clients cut larger results off or refuse them, and what they keep crowds out the conversation.",
    fix: "Return the first page with a hint how to get more, or a link to a resource.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 25_000;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        let Some(result) = asked.result() else { continue };
        seen = true;
        let content = result.get("content").and_then(Value::as_array).into_iter().flatten();
        // Only text is counted: models count images and audio differently.
        let text: usize = content.filter_map(|block| block.get("text")).map(estimate).sum();
        let structured = result.get("structuredContent").map_or(0, estimate);
        let tokens = text.max(structured);
        if tokens > MOST {
            let message = format!("a call returns about {tokens} tokens");
            findings
                .push(asked.finding(message, "/result/content").about(format!("tool {}", asked.variant())));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no call of a tool gave a result")) }
}
