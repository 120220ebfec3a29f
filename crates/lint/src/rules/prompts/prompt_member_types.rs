//! `prompt-member-types`: members of prompts have the types of the schema.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-member-types",
    group: Group::Prompts,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`title`, `description` and `arguments` of prompts have the types that the protocol gives them, and every argument has a name",
    clause: Clause::of("2025-11-25", "schema", "Prompt"),
    why: "Typed clients refuse the whole list for one member of the wrong type.",
    fix: "Write `arguments` as a list of objects with `name`, `description` and `required`; leave out what there is no value for.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        for member in ["title", "description"] {
            if prompt.value.get(member).is_some_and(|value| !value.is_string()) {
                findings.push(prompt.finding(format!("`{member}` is not a string"), &format!("/{member}")));
            }
        }
        let Some(arguments) = prompt.value.get("arguments") else { continue };
        let Some(arguments) = arguments.as_array() else {
            findings.push(prompt.finding("`arguments` is not a list", "/arguments"));
            continue;
        };
        for (index, argument) in arguments.iter().enumerate() {
            let at = |member: &str| format!("/arguments/{index}/{member}");
            if argument.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
                findings.push(prompt.finding("an argument has no name", &at("name")));
            }
            if argument.get("required").is_some_and(|value| !value.is_boolean()) {
                findings.push(prompt.finding("`required` of an argument is not a boolean", &at("required")));
            }
            if argument.get("description").is_some_and(|value| !value.is_string()) {
                findings.push(prompt.finding("`description` of an argument is not a string", &at("description")));
            }
        }
    }
    Ok(findings)
}
