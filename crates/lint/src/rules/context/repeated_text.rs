//! `repeated-text`: nothing is said again and again.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "repeated-text",
    group: Group::Context,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text of 80 characters or more stands three times in the tool list",
    clause: Clause::practice("client limits", "context cost"),
    why: "Each copy is paid for with every request.",
    fix: "Say it once in the instructions, or in the tool that it concerns most.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const LEAST: usize = 80;
const OFTEN: usize = 3;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut places: BTreeMap<&str, Vec<(&Item<'_>, String)>> = BTreeMap::new();
    for tool in &tools {
        if let Some(text) = tool.text("description") {
            places.entry(text.trim()).or_default().push((tool, "/description".to_owned()));
        }
        for node in schema::of_tool(tool) {
            if let Some(text) = node.value.get("description").and_then(Value::as_str) {
                places.entry(text.trim()).or_default().push((tool, format!("{}/description", node.pointer)));
            }
        }
    }
    let mut findings = Vec::new();
    for (text, places) in places {
        let length = text.chars().count();
        if length >= LEAST && places.len() >= OFTEN {
            let (tool, pointer) = &places[0];
            let wasted = (places.len() - 1) * length.div_ceil(4);
            let message = format!("this text stands {} times in the list; the copies take about {wasted} tokens", places.len());
            findings.push(tool.finding(message, pointer));
        }
    }
    Ok(findings)
}
