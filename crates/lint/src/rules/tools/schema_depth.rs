//! `schema-depth`: schemas are not too deep for models.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "schema-depth",
    group: Group::Tools,
    level: Level::Warning,
    summary: "schemas nest at most 10 levels deep",
    clause: Clause::practice("client limits", "schema size"),
    why: "Providers refuse schemas that nest deeper, and models lose track of them.",
    fix: "Flatten the arguments; give a nested document as one string or split the tool.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Maximum JSON nesting depth, including `properties` and similar levels.
const DEEPEST: usize = 20;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for member in ["inputSchema", "outputSchema"] {
            let depth = tool.value.get(member).map_or(0, depth);
            if depth > DEEPEST {
                let message = format!("`{member}` nests {} levels deep", depth / 2);
                findings.push(tool.finding(message, &format!("/{member}")));
            }
        }
    }
    Ok(findings)
}

fn depth(value: &Value) -> usize {
    let (mut deepest, mut stack) = (0, vec![(value, 1)]);
    while let Some((value, level)) = stack.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Object(members) => stack.extend(members.values().map(|value| (value, level + 1))),
            Value::Array(items) => stack.extend(items.iter().map(|value| (value, level + 1))),
            _ => {}
        }
    }
    deepest
}
