//! `tool-result-content`: results of tools consist of content blocks.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::{content, prelude::*},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-result-content",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Active,
    summary: "a result of a tool has a list `content` of blocks that the protocol knows, each complete",
    clause: Clause::of("2025-11-25", "server/tools", "Tool Result"),
    why: "Clients show or forward the blocks by type; one they cannot read costs the whole result.",
    fix: "Return `content` with blocks of type text, image, audio, resource_link or resource, with all members they need.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        let Some(result) = asked.result() else { continue };
        // A task or a request for input has no content.
        if result.get("resultType").is_some_and(|kind| kind != "complete") || result.get("task").is_some() {
            continue;
        }
        seen = true;
        let about = format!("tool {}", asked.variant());
        let Some(blocks) = result.get("content").and_then(Value::as_array) else {
            findings.push(asked.finding("the result has no list `content`", "/result/content").about(about));
            continue;
        };
        for (index, block) in blocks.iter().enumerate() {
            if let Some((below, message)) = content::flaw(block) {
                findings.push(
                    asked.finding(message, &format!("/result/content/{index}{below}")).about(about.clone()),
                );
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no call of a tool gave a result")) }
}
