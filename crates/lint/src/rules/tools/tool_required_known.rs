//! `tool-required-known`: what is required is described.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::{schema, words},
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "tool-required-known",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every name under `required` is one of the schema's properties",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Models fill in what is described; a required argument without a description is left out, and the call fails.",
    fix: "Add the property, or take the name out of `required`.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for node in schema::of_tool(&tool) {
            // Alternatives often require properties that stand one level up.
            let whole = node.value.get("properties").is_some() || node.depth == 0;
            let open = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref"].iter().any(|it| node.value.get(it).is_some());
            if !whole || open {
                continue;
            }
            let known: BTreeSet<&str> = schema::properties(node.value).map(|(name, _)| name.as_str()).collect();
            let unknown: Vec<&str> = schema::required(node.value).filter(|name| !known.contains(name)).collect();
            if !unknown.is_empty() {
                let message = format!("required, but not among the properties: {}", words::some(&unknown));
                findings.push(tool.finding(message, &format!("{}/required", node.pointer)));
            }
        }
    }
    Ok(findings)
}
