//! `required-exists`: required parameters are among the properties.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "required-exists",
    group: Group::Tools,
    level: Level::Warning,
    summary: "every required argument is among the properties",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "A model cannot give an argument that it is told nothing about, so every call fails.",
    fix: "Describe the argument under `properties`, or take it out of `required`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(schema) = tool.value.get("inputSchema") else { continue };
        // Properties may also come from a reference or an alternative.
        let elsewhere = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties"]
            .iter()
            .any(|it| schema.get(it).is_some());
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().enumerate();
        for (index, name) in required.filter_map(|(index, name)| Some((index, name.as_str()?))) {
            let known = schema.get("properties").and_then(|properties| properties.get(name)).is_some();
            if !known && !elsewhere {
                let message = format!("`{name}` is required, but is no property");
                findings.push(tool.finding(message, &format!("/inputSchema/required/{index}")));
            }
        }
    }
    Ok(findings)
}
