//! `schema-recursion`: schemas are not recursive.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "schema-recursion",
    group: Group::Tools,
    level: Level::Info,
    summary: "no schema of a tool refers to a schema that it is part of",
    clause: Clause::practice("client limits", "schemas"),
    why: "Several model providers refuse recursive schemas, and forms cannot be made from them.",
    fix: "Limit the nesting, or take a JSON text where the structure has no end.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            let nodes = schema::walk(root, pointer);
            if let Some(own) = nodes.iter().find(|node| is_recursive(node, pointer)) {
                let at = format!("{}/$ref", own.pointer);
                findings.push(tool.finding("a schema refers to one that it is part of", &at));
            }
        }
    }
    Ok(findings)
}

/// True if it refers to a schema that contains it.
fn is_recursive(node: &schema::Node<'_>, root: &str) -> bool {
    let target = node.value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
    target.is_some_and(|target| {
        let whole = format!("{root}{target}");
        node.pointer == whole || node.pointer.starts_with(&format!("{whole}/"))
    })
}
