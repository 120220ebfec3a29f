//! `parameter-description`: arguments are described.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "parameter-description",
    group: Group::Docs,
    level: Level::Info,
    summary: "every required argument has a description",
    clause: Clause::practice("practice", "tools a model can fill in"),
    why: "Without a description a model guesses the format from the name: paths, dates and identifiers go wrong.",
    fix: "Describe each argument in a few words, with format and unit.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(schema) = tool.value.get("inputSchema") else { continue };
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let bare: Vec<&str> = properties
            .filter(|(_, property)| property.is_object() && property.get("$ref").is_none())
            .filter(|(_, property)| {
                property.get("description").and_then(Value::as_str).is_none_or(|it| it.trim().is_empty())
            })
            .map(|(name, _)| name.as_str())
            .collect();
        let (needed, free): (Vec<&str>, Vec<&str>) =
            bare.into_iter().partition(|name| required.contains(name));
        for (names, kind) in [(needed, "required"), (free, "optional")] {
            if let Some(first) = names.first() {
                let message = format!("{kind} arguments without a description: {}", names.join(", "));
                findings.push(tool.finding(message, &format!("/inputSchema/properties/{first}")));
            }
        }
    }
    Ok(findings)
}
