//! `parameter-description`: parameters say what they take.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::{schema, words},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "parameter-description",
    group: Group::Docs,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every parameter of a tool has a description",
    clause: Clause::practice("practice", "texts for models"),
    why: "A model fills in what it can guess from the name; formats, units and what is relative to what it cannot guess.",
    fix: "Add a `description` to each property: what it is, in which form, with an example where that helps.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        let described = |property: &Value| property.get("description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
        // A reference or a constant says elsewhere what it is.
        let silent = |property: &Value| !described(property) && property.get("$ref").is_none() && property.get("const").is_none();
        let silent: Vec<&str> = schema::properties(root).filter(|(_, it)| silent(it)).map(|(name, _)| name.as_str()).collect();
        let required: BTreeSet<&str> = schema::required(root).collect();
        let (must, may): (Vec<&str>, Vec<&str>) = silent.into_iter().partition(|name| required.contains(name));
        for (names, what, level) in [(must, "required", Level::Warning), (may, "optional", Level::Info)] {
            if let Some(first) = names.first() {
                let message = format!("{what} parameters without a description: {}", words::some(&names));
                let at = format!("/inputSchema/properties/{}", schema::escape(first));
                findings.push(tool.finding(message, &at).level(level));
            }
        }
    }
    Ok(findings)
}
