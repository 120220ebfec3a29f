//! `prompt-content`: the content of prompts is complete.

use crate::{
    probes::{LISTS, PROMPT_GETS},
    rules::{content, prelude::*, prompt_gets},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-content",
    group: Group::Prompts,
    level: Level::Error,
    summary: "every block of content in a prompt is of a known type and has all members of that type",
    clause: Clause::of("2025-11-25", "server/prompts", "PromptMessage"),
    why: "Clients put the messages into the conversation; one they cannot read costs the whole prompt.",
    fix: "Return blocks of type text, image, audio, resource_link or resource with all members they need.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in prompt_gets(case)? {
        let Some(messages) = asked.result().and_then(|it| it.get("messages")).and_then(Value::as_array)
        else {
            continue;
        };
        seen = true;
        for (index, message) in messages.iter().enumerate() {
            // Content that is not a block is reported by another rule.
            let Some(block) = message.get("content").filter(|block| block["type"].is_string()) else {
                continue;
            };
            if let Some((below, text)) = content::flaw(block) {
                let at = format!("/result/messages/{index}/content{below}");
                findings.push(asked.finding(text, &at).about(format!("prompt {}", asked.variant())));
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no prompt could be got with made-up arguments")) }
}
