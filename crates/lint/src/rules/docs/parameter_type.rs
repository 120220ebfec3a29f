//! `parameter-type`: parameters have a type.

use crate::{
    pointer,
    probes::LISTS,
    rules::{prelude::*, schema, words},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "parameter-type",
    group: Group::Docs,
    level: Level::Info,
    summary: "every parameter of a tool has a type or a list of values",
    clause: Clause::practice("practice", "texts for models"),
    why: "A model sends a number as a text, or a list as one text with commas.",
    fix: "Add `type`, `enum` or a reference to each property.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const KEYWORDS: [&str; 9] =
    ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        let open = |property: &Value| !KEYWORDS.iter().any(|keyword| property.get(keyword).is_some());
        let open: Vec<&str> =
            schema::properties(root).filter(|(_, it)| open(it)).map(|(name, _)| name.as_str()).collect();
        if let Some(first) = open.first() {
            let message = format!("parameters without a type: {}", words::some(&open));
            findings
                .push(tool.finding(message, &format!("/inputSchema/properties/{}", pointer::escape(first))));
        }
    }
    Ok(findings)
}
