//! `tool-schema-depth`: schemas stay within what clients walk.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-depth",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "schemas are nested at most 12 deep, have at most 1,000 parts and do not refer to themselves",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Deep, huge or recursive schemas are refused by model providers and cost clients time and memory.",
    fix: "Flatten the parameters; take a free-form object or a JSON text where the structure has no end.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const DEEPEST: usize = 12;
const MOST: usize = 1_000;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            let nodes = schema::walk(root, pointer);
            if nodes.len() > MOST {
                let message = format!("`{}` consists of more than {MOST} schemas", &pointer[1..]);
                findings.push(tool.finding(message, pointer));
            }
            if let Some(deep) = nodes.iter().find(|node| node.depth > DEEPEST) {
                findings.push(tool.finding(format!("a schema is nested more than {DEEPEST} deep"), &deep.pointer));
            }
            if let Some(own) = nodes.iter().find(|node| is_recursive(node, pointer)) {
                let finding = tool.finding("a schema refers to one that it is part of", &format!("{}/$ref", own.pointer));
                findings.push(finding.level(Level::Info));
            }
        }
    }
    Ok(findings)
}

/// Whether it refers to a schema that it stands in itself.
fn is_recursive(node: &schema::Node<'_>, root: &str) -> bool {
    let target = node.value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
    target.is_some_and(|target| {
        let whole = format!("{root}{target}");
        node.pointer == whole || node.pointer.starts_with(&format!("{whole}/"))
    })
}
