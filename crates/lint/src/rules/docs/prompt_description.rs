//! `prompt-description`: prompts and their arguments say what they are.

use crate::{probes::LISTS, rules::prelude::*, rules::words};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-description",
    group: Group::Docs,
    level: Level::Info,
    summary: "every prompt and every argument of a prompt has a description",
    clause: Clause::of("2025-11-25", "server/prompts", "Prompt"),
    why: "Clients show the texts where users choose a prompt and fill it in.",
    fix: "Add a `description` of one sentence to the prompt and to each argument.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        let silent = |value: &Value| {
            value.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
        };
        if silent(prompt.value) {
            findings.push(prompt.finding("it has no description", "/description"));
        }
        let arguments = prompt.value.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> =
            arguments.filter(|it| silent(it)).filter_map(|it| it.get("name")?.as_str()).collect();
        if !names.is_empty() {
            findings.push(
                prompt.finding(
                    format!("arguments without a description: {}", words::some(&names)),
                    "/arguments",
                ),
            );
        }
    }
    Ok(findings)
}
