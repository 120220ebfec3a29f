//! `unknown-prompt`: a prompt that does not exist is refused.

use crate::{
    probes::{UNKNOWN_PROMPT_STEP, UNKNOWN_RESOURCE},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-prompt",
    group: Group::Prompts,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "an unknown prompt is refused with -32602",
    clause: Clause::of("2025-11-25", "server/prompts", "Error Handling"),
    why: "A prompt that was renamed gives the user something else, or nothing, without a word.",
    fix: "Answer `prompts/get` for an unknown name with -32602.",
    needs: &[&UNKNOWN_RESOURCE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("prompts")?;
    let asked = case.first(&UNKNOWN_RESOURCE, UNKNOWN_PROMPT_STEP)?;
    match (asked.result(), asked.error_code()) {
        (None, Some(-32602)) => Ok(Vec::new()),
        (None, Some(code)) => {
            let message = format!("an unknown prompt should be refused with -32602, but the error is {code}");
            Ok(vec![asked.finding(message, "/error/code").level(Level::Info)])
        }
        (Some(_), _) => Ok(vec![asked.finding("a prompt that does not exist is given", "/result")]),
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
