//! `naming-style`: names of tools are written in one style.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*, rules::words};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "naming-style",
    group: Group::Docs,
    level: Level::Info,
    summary: "names of tools with several words are all written in one style",
    clause: Clause::practice("practice", "texts for models"),
    why: "Users and models guess the name of one tool from another's.",
    fix: "Choose `snake_case`, `kebab-case` or `camelCase` and keep to it.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut styles: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for tool in &tools {
        if let Some(style) = tool.text("name").and_then(style) {
            styles.entry(style).or_default().push(tool);
        }
    }
    let Some(usual) = styles.iter().max_by_key(|(_, tools)| tools.len()).map(|(style, _)| *style) else {
        return Ok(Vec::new());
    };
    let mut findings = Vec::new();
    for (style, tools) in &styles {
        if *style != usual {
            let names: Vec<&str> = tools.iter().filter_map(|tool| tool.text("name")).collect();
            let message = format!("most names are written in {usual}, but not {}", words::some(&names));
            findings.push(tools[0].finding(message, "/name").about(*style));
        }
    }
    Ok(findings)
}

/// The style of a name; `None` if it is a single word.
fn style(name: &str) -> Option<&'static str> {
    let inner = name.trim_matches(['_', '-', '.']);
    let hump = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    match () {
        () if inner.contains('_') => Some("snake_case"),
        () if inner.contains('-') => Some("kebab-case"),
        () if inner.contains('.') => Some("dotted names"),
        () if hump => Some("camelCase"),
        () => None,
    }
}
