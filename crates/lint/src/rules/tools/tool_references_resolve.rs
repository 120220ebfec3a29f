//! `tool-references-resolve`: references inside a schema resolve.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-references-resolve",
    group: Group::Tools,
    level: Level::Error,
    summary: "every `$ref` inside a tool's schema leads to a part of that schema",
    clause: Clause::of("2025-11-25", "basic", "Schema Validation"),
    why: "A schema with a broken reference does not compile: clients drop the tool.",
    fix: "Put the definition under `$defs` of the same schema, or write it out where it is used.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            let nodes = schema::walk(root, pointer);
            let anchored = |name: &str| {
                let is = |keyword: &str, inner: &Value| inner.get(keyword).is_some_and(|it| it == name);
                nodes.iter().any(|node| is("$anchor", node.value) || is("$dynamicAnchor", node.value))
            };
            for node in &nodes {
                let Some(inner) =
                    node.value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'))
                else {
                    continue;
                };
                // A subschema with its own `$id` is the root of its references.
                let own_root = nodes[1..].iter().any(|other| other.value.get("$id").is_some());
                let there = if inner.is_empty() || inner.starts_with('/') {
                    root.pointer(&inner.replace("%24", "$").replace("%25", "%")).is_some()
                } else {
                    anchored(inner)
                };
                if !there && !own_root {
                    let message = format!("`#{inner}` leads nowhere in `{}`", &pointer[1..]);
                    findings.push(tool.finding(message, &format!("{}/$ref", node.pointer)));
                }
            }
        }
    }
    Ok(findings)
}
