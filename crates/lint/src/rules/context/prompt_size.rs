//! `prompt-size`: prompts leave room for the conversation.

use crate::{
    probes::{LISTS, PROMPT_GETS},
    report::estimate,
    rules::{prelude::*, prompt_gets},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-size",
    group: Group::Context,
    level: Level::Info,
    summary: "a prompt has at most 10,000 tokens",
    clause: Clause::practice("client limits", "context cost"),
    why: "A user who chooses the prompt fills the context before the first word.",
    fix: "Shorten the text, and link resources instead of embedding them.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 10_000;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in prompt_gets(case)? {
        let Some(messages) = asked.result().and_then(|it| it.get("messages")).and_then(Value::as_array)
        else {
            continue;
        };
        seen = true;
        let text = |message: &Value| {
            let own = message.pointer("/content/text").map_or(0, estimate);
            own + message.pointer("/content/resource/text").map_or(0, estimate)
        };
        let tokens: usize = messages.iter().map(text).sum();
        if tokens > MOST {
            let message = format!("it has about {tokens} tokens");
            findings.push(
                asked.finding(message, "/result/messages").about(format!("prompt {}", asked.variant())),
            );
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no prompt could be got with made-up arguments")) }
}
