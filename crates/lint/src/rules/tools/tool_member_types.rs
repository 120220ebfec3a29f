//! `tool-member-types`: members of a tool have the types of the schema.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-member-types",
    group: Group::Tools,
    level: Level::Error,
    summary: "a tool is an object, its `description` a string, and `outputSchema`, `execution` and `_meta` are objects",
    clause: Clause::of("2025-11-25", "schema", "Tool"),
    why: "Typed clients refuse the whole list for one member of the wrong type.",
    fix: "Write texts as strings, and leave out what there is no value for; `null` is none.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        if !tool.value.is_object() {
            findings.push(tool.finding("the tool is not an object", ""));
        }
        if tool.value.get("description").is_some_and(|value| !value.is_string()) {
            findings.push(tool.finding("`description` is not a string", "/description"));
        }
        // An absent member is left out; null is no value of any of them.
        for member in ["title", "icons", "annotations"] {
            if tool.value.get(member).is_some_and(serde_json::Value::is_null) {
                findings.push(tool.finding(format!("`{member}` is null"), &format!("/{member}")));
            }
        }
        for member in ["outputSchema", "execution", "_meta"] {
            if tool.value.get(member).is_some_and(|value| !value.is_object()) {
                findings.push(tool.finding(format!("`{member}` is not an object"), &format!("/{member}")));
            }
        }
    }
    Ok(findings)
}
