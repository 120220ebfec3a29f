//! `prompt-messages`: prompt results contain messages.

use crate::{
    probes::{LISTS, PROMPT_GETS},
    rules::{prelude::*, prompt_gets},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-messages",
    group: Group::Prompts,
    level: Level::Error,
    summary: "the result of `prompts/get` has messages with a role and a content block",
    clause: Clause::of("2025-11-25", "server/prompts", "PromptMessage"),
    why: "Clients hand the messages to the model as they are; without role or type they cannot.",
    fix: "Return `messages` with `role` `user` or `assistant` and one `content` object with a `type`.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in prompt_gets(case)? {
        let Some(result) = asked.result() else { continue };
        // A modern server may ask for input first.
        if result.get("resultType").is_some_and(|kind| kind == "input_required") {
            continue;
        }
        seen = true;
        let about = format!("prompt {}", asked.variant());
        let Some(messages) = result.get("messages").and_then(Value::as_array) else {
            findings.push(asked.finding("the result has no list `messages`", "/result").about(about));
            continue;
        };
        for (index, message) in messages.iter().enumerate() {
            let at = format!("/result/messages/{index}");
            let role = message.get("role").and_then(Value::as_str);
            if !matches!(role, Some("user" | "assistant")) {
                findings.push(
                    asked
                        .finding("a message has neither the role user nor assistant", &format!("{at}/role"))
                        .about(about.clone()),
                );
            } else if !message.get("content").is_some_and(|content| content["type"].is_string()) {
                findings.push(
                    asked
                        .finding("the content of a message is no content block", &format!("{at}/content"))
                        .about(about.clone()),
                );
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no prompt was given")) }
}
