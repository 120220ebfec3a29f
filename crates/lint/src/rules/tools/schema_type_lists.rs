//! `schema-type-lists`: parameters have one type.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "schema-type-lists",
    group: Group::Tools,
    level: Level::Info,
    summary: "no schema of a parameter has a list of types",
    clause: Clause::practice("client limits", "schemas"),
    why: "Some clients and model providers refuse the tool, or take the first type only.",
    fix: "Give each parameter one type, and make it optional instead of nullable.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        let nodes = schema::walk(root, "/inputSchema");
        let lists: Vec<_> =
            nodes.iter().filter(|node| node.value.get("type").is_some_and(Value::is_array)).collect();
        if let Some(first) = lists.first() {
            let message = format!(
                "a list of types stands in {} of its schemas, which some clients do not read",
                lists.len()
            );
            findings.push(tool.finding(message, &format!("{}/type", first.pointer)));
        }
    }
    Ok(findings)
}
