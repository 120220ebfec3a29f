//! `prompt-arguments`: prompt arguments have the specified form.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-arguments",
    group: Group::Prompts,
    level: Level::Error,
    summary: "`arguments` is a list of objects with a `name`",
    clause: Clause::of("2025-11-25", "server/prompts", "Prompt"),
    why: "Clients make a form from it; a JSON Schema or a bare list of names cannot be shown.",
    fix: "Write `[{\"name\": \"topic\", \"description\": \"…\", \"required\": true}]`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        let Some(arguments) = prompt.value.get("arguments") else { continue };
        let Value::Array(arguments) = arguments else {
            findings.push(prompt.finding("`arguments` is not a list", "/arguments"));
            continue;
        };
        for (index, argument) in arguments.iter().enumerate() {
            let at = format!("/arguments/{index}");
            if !argument.get("name").is_some_and(Value::is_string) {
                findings.push(prompt.finding("an argument has no name", &at));
            } else if argument.get("required").is_some_and(|required| !required.is_boolean()) {
                findings.push(
                    prompt.finding("`required` of an argument is not a boolean", &format!("{at}/required")),
                );
            }
        }
    }
    Ok(findings)
}
