//! `header-parameters`: parameters that travel as headers can do so.

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
    name: "header-parameters",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    summary: "every `x-mcp-header` is a header token, unique, on a plain parameter that `properties` alone lead to",
    clause: Clause::of("2026-07-28", "server/tools", "x-mcp-header"),
    why: "Clients must drop a tool that breaks one of these conditions from the list.",
    fix: "Give each a name of letters, digits and `-`, once per tool, on a string, integer or boolean that is not inside a list or an alternative.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for node in schema::of_tool(&tool) {
            let Some(header) = node.value.get("x-mcp-header") else { continue };
            let name = header.as_str().unwrap_or_default();
            let at = format!("{}/x-mcp-header", node.pointer);
            let kind = node.value.get("type").and_then(Value::as_str).unwrap_or_default();
            let message = if !is_token(name) {
                format!("{header} is not the name of a header")
            } else if !seen.insert(name.to_ascii_lowercase()) {
                format!("the header `{name}` stands for two parameters")
            } else if !matches!(kind, "string" | "integer" | "boolean") {
                format!("the header `{name}` is on a parameter that is no string, integer or boolean")
            } else if !is_reachable(&node.pointer) {
                format!("the header `{name}` is on a parameter that is not reached through `properties` alone")
            } else {
                continue;
            };
            findings.push(tool.finding(message, &at));
        }
    }
    Ok(findings)
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether the way to it is `properties` and a name, again and again.
fn is_reachable(pointer: &str) -> bool {
    let Some(way) = pointer.strip_prefix("/inputSchema/") else { return false };
    let parts: Vec<&str> = way.split('/').collect();
    parts.len() % 2 == 0 && parts.iter().step_by(2).all(|part| *part == "properties")
}
