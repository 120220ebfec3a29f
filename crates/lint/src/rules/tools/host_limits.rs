//! `host-limits`: names and schemas are accepted by all hosts.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "host-limits",
    group: Group::Tools,
    level: Level::Info,
    summary: "names and schemas stay within what every common client takes",
    clause: Clause::practice("client limits", "tool names and schemas"),
    why: "Some clients refuse names above 64 characters or with dots, and schemas with a list of types or alternatives at the root; the tool is missing there.",
    fix: "Keep names within 64 characters of letters, digits, `_` and `-`, and the schema's root a plain object.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// The limit of common providers. Clients may add a prefix that counts too; it is unknown here.
const LONGEST: usize = 64;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let name = tool.text("name").unwrap_or_default();
        if name.len() > LONGEST {
            findings.push(
                tool.finding(
                    format!("the name has {} characters; some clients take 64", name.len()),
                    "/name",
                ),
            );
        }
        if name.contains('.') {
            findings.push(tool.finding("the name has a dot, which some clients refuse", "/name"));
        }
        let Some(schema) = tool.value.get("inputSchema") else { continue };
        if let Some(word) = ["anyOf", "oneOf", "allOf"].into_iter().find(|word| schema.get(word).is_some()) {
            let message = format!("the root of the schema has `{word}`, which some clients refuse");
            findings.push(tool.finding(message, &format!("/inputSchema/{word}")));
        }
        for (property, value) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if value.is_boolean() {
                let message = format!("the schema of `{property}` is a boolean, which some clients refuse");
                findings.push(tool.finding(message, &format!("/inputSchema/properties/{property}")));
            }
        }
    }
    Ok(findings)
}
