//! `tool-references-local`: schemas need nothing from the network.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "tool-references-local",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no `$ref` leads out of the tool's own schema",
    clause: Clause::of("2026-07-28", "basic", "JSON Schema Usage"),
    why: "Clients must not fetch schemas from the network by themselves, so that the tool cannot be used; one that does fetch can be led anywhere.",
    fix: "Copy the referenced schema into `$defs`.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let nodes = schema::of_tool(&tool);
        let ids: BTreeSet<&str> = nodes.iter().filter_map(|node| node.value.get("$id")?.as_str()).collect();
        for node in &nodes {
            for keyword in ["$ref", "$dynamicRef"] {
                let Some(target) = node.value.get(keyword).and_then(Value::as_str) else { continue };
                let document = target.split('#').next().unwrap_or_default();
                if !document.is_empty() && !ids.contains(document) {
                    let message = format!("`{target}` leads out of the schema");
                    findings.push(tool.finding(message, &format!("{}/{keyword}", node.pointer)));
                }
            }
        }
    }
    Ok(findings)
}
