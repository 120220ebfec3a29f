//! `tool-schema-portable`: schemas keep to what all clients take.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-portable",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "input schemas have no type lists, no boolean schemas and no alternatives at the root",
    clause: Clause::practice("client limits", "schemas"),
    why: "Some clients and model providers refuse the tool, or hide these parts from the model.",
    fix: "Give each parameter one type, make it optional instead of nullable, and list all parameters under `properties` of the root.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        for keyword in ["anyOf", "oneOf", "allOf", "not"] {
            if root.get(keyword).is_some() {
                let message = format!("`{keyword}` at the root of the input schema is refused by some providers");
                findings.push(tool.finding(message, &format!("/inputSchema/{keyword}")));
            }
        }
        let nodes = schema::walk(root, "/inputSchema");
        let lists: Vec<_> = nodes.iter().filter(|node| node.value.get("type").is_some_and(Value::is_array)).collect();
        if let Some(first) = lists.first() {
            let message = format!("{} of its schemas have a list of types, which some clients do not read", lists.len());
            findings.push(tool.finding(message, &format!("{}/type", first.pointer)));
        }
        let parameter = |node: &&schema::Node<'_>| node.value.is_boolean() && node.pointer.contains("/properties/");
        let closed = |node: &schema::Node<'_>| node.pointer.ends_with("Properties") || node.pointer.ends_with("Items");
        if let Some(first) = nodes.iter().filter(parameter).find(|node| !closed(node)) {
            findings.push(tool.finding("a schema is just `true` or `false`, which some clients refuse", &first.pointer));
        }
    }
    Ok(findings)
}
