//! `tool-schema-valid`: schemas of tools are valid.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;
use trunkline_schema::Draft;

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-valid",
    group: Group::Tools,
    level: Level::Error,
    summary: "every `inputSchema` and `outputSchema` is valid in the JSON Schema dialect it declares, 2020-12 by default",
    clause: Clause::of("2025-11-25", "basic", "Schema Validation"),
    why: "Clients and model providers compile the schema; one that does not compile costs the tool, or the whole list.",
    fix: "Correct the keyword that is named; draft-07 is fine when `$schema` says so.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Maximum number of patterns compiled; `schema-cost` reports schemas with more.
const MAX_PATTERNS: usize = 200;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            let mut left = MAX_PATTERNS;
            // An unknown dialect cannot be judged, and another rule reports a root that is not an
            // object.
            if !root.is_object() || Draft::default().detect(root) == Draft::Unknown {
                continue;
            }
            if let Some(error) = trunkline_schema::meta_error(root) {
                let at = format!("{pointer}{}", error.instance_path());
                // For an unknown type, the meta-schema's error is a confusing list of
                // alternatives.
                let unknown_type =
                    at.ends_with("/type").then(|| format!("{} is not a type", error.instance()));
                let why = unknown_type.unwrap_or_else(|| error.to_string());
                findings.push(tool.finding(format!("`{}` is not a valid schema: {why}", &pointer[1..]), &at));
            } else if let Some(pattern) = broken_pattern(root, &mut left) {
                let message = format!(
                    "`{}` has the pattern {pattern:?}, which is no regular expression",
                    &pointer[1..]
                );
                findings.push(tool.finding(message, pointer));
            }
        }
    }
    Ok(findings)
}

/// The first invalid `pattern`. `left` is the number of patterns that may still be compiled.
fn broken_pattern<'a>(schema: &'a Value, left: &mut usize) -> Option<&'a str> {
    let inner = match schema {
        Value::Object(members) => members.values().find_map(|member| broken_pattern(member, left)),
        Value::Array(items) => items.iter().find_map(|item| broken_pattern(item, left)),
        _ => None,
    };
    inner.or_else(|| {
        let pattern = schema.get("pattern")?.as_str()?;
        *left = left.checked_sub(1)?;
        (!trunkline_schema::is_regex(pattern)).then_some(pattern)
    })
}
