//! `prompt-arguments-unique`: argument names of a prompt are unique.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "prompt-arguments-unique",
    group: Group::Prompts,
    level: Level::Warning,
    summary: "no two arguments of a prompt have the same name",
    clause: Clause::of("2025-11-25", "server/prompts", "Prompt"),
    why: "Arguments are given by name: of two with one name only one gets a value.",
    fix: "Rename one of the arguments.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        let mut seen = BTreeSet::new();
        let arguments = prompt.value.get("arguments").and_then(Value::as_array).into_iter().flatten();
        for (index, argument) in arguments.enumerate() {
            let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
            if !seen.insert(name) {
                let message = format!("the argument `{name}` stands twice");
                findings.push(prompt.finding(message, &format!("/arguments/{index}/name")));
            }
        }
    }
    Ok(findings)
}
