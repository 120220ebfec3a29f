//! `prompt-gettable`: listed prompts can be fetched.

use crate::{
    probes::{LISTS, PROMPT_GETS},
    rules::{prelude::*, prompt_gets},
};

pub(super) static RULE: Rule = Rule {
    name: "prompt-gettable",
    group: Group::Prompts,
    level: Level::Error,
    summary: "every listed prompt that is asked for is known to `prompts/get`",
    clause: Clause::of("2025-11-25", "server/prompts", "Getting a Prompt"),
    why: "Users choose a prompt from the list and get an error.",
    fix: "Answer `prompts/get` for every listed prompt; -32602 is for arguments that are wrong, -32603 for nothing a client can cause.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in prompt_gets(case)? {
        let about = format!("prompt {}", asked.variant());
        let level = match asked.error_code() {
            // The generated arguments may be refused.
            Some(-32602) => continue,
            Some(-32601) => Level::Error,
            Some(_) => Level::Info,
            None if asked.result().is_some() => {
                seen = true;
                continue;
            }
            None => Level::Error,
        };
        seen = true;
        let message = format!("it is listed and cannot be got: {}", asked.describe());
        findings.push(asked.finding(message, "/error").about(about).level(level));
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("all prompts refused made-up arguments")) }
}
