//! `prompt-arguments-checked`: a prompt without its required arguments is refused.

use crate::{
    evidence::Item,
    probes::{LISTS, PROMPT_LACKING_STEP, UNKNOWN_RESOURCE},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "prompt-arguments-checked",
    group: Group::Prompts,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "a prompt without a required argument is refused with -32602",
    clause: Clause::of("2025-11-25", "server/prompts", "Error Handling"),
    why: "The model gets a text with a hole in it, such as \"Summarise undefined\".",
    fix: "Check the required arguments first and answer -32602.",
    needs: &[&LISTS, &UNKNOWN_RESOURCE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let prompts = case.list(List::Prompts)?;
    let required = |prompt: &Item<'_>| {
        let arguments = prompt.value.get("arguments").and_then(|arguments| arguments.as_array());
        arguments.is_some_and(|all| all.iter().any(|argument| argument["required"] == true))
    };
    if !prompts.iter().any(required) {
        return Err(Skip::not_applicable("no prompt has a required argument"));
    }
    let asked = case.first(&UNKNOWN_RESOURCE, PROMPT_LACKING_STEP)?;
    match (asked.result(), asked.error_code()) {
        (None, Some(-32602)) => Ok(Vec::new()),
        (None, Some(code)) => {
            let message =
                format!("a missing argument should be refused with -32602, but the error is {code}");
            Ok(vec![
                asked
                    .finding(message, "/error/code")
                    .about(format!("prompt {}", asked.variant()))
                    .level(Level::Info),
            ])
        }
        (Some(_), _) => {
            let message = "it is given although a required argument is missing";
            Ok(vec![asked.finding(message, "/result").about(format!("prompt {}", asked.variant()))])
        }
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
