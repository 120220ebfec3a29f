//! `prompt-member-types`: members of prompts have the types of the schema.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-member-types",
    group: Group::Prompts,
    level: Level::Error,
    summary: "`title` and `description` of prompts and their arguments are strings",
    clause: Clause::of("2025-11-25", "schema", "Prompt"),
    why: "Typed clients refuse the whole list for one member of the wrong type.",
    fix: "Write texts as strings and leave out what there is no value for; `null` is none.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        for member in ["title", "description"] {
            if prompt.value.get(member).is_some_and(|value| !value.is_string()) {
                findings.push(prompt.finding(format!("`{member}` is not a string"), &format!("/{member}")));
            }
        }
        let arguments = prompt.value.get("arguments").and_then(Value::as_array).into_iter().flatten();
        for (index, argument) in arguments.enumerate() {
            for member in ["title", "description"] {
                if argument.get(member).is_some_and(|value| !value.is_string()) {
                    let message = format!("`{member}` of an argument is not a string");
                    findings.push(prompt.finding(message, &format!("/arguments/{index}/{member}")));
                }
            }
        }
    }
    Ok(findings)
}
