//! `tool-schema-valid`: schemas of tools are schemas.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-valid",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every `inputSchema` and `outputSchema` is valid in the JSON Schema dialect it declares, 2020-12 by default",
    clause: Clause::of("2025-11-25", "basic", "Schema Validation"),
    why: "Clients and model providers compile the schema; one that does not compile costs the tool, or the whole list.",
    fix: "Correct the keyword that is named; draft-07 is fine when `$schema` says so.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            // A dialect that is not known cannot be judged, and a root that is no object is the matter of another rule.
            if !root.is_object() || jsonschema::Draft::default().detect(root) == jsonschema::Draft::Unknown {
                continue;
            }
            if let Err(error) = jsonschema::meta::validate(root) {
                let at = format!("{pointer}{}", error.instance_path());
                // What the meta-schema says about a wrong type is a list of alternatives.
                let unknown_type =
                    at.ends_with("/type").then(|| format!("{} is not a type", error.instance()));
                let why = unknown_type.unwrap_or_else(|| error.to_string());
                findings.push(tool.finding(format!("`{}` is not a valid schema: {why}", &pointer[1..]), &at));
            } else if let Some(pattern) = broken_pattern(root) {
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

/// A `pattern` that does not compile.
fn broken_pattern(schema: &Value) -> Option<&str> {
    let inner = match schema {
        Value::Object(members) => members.values().find_map(broken_pattern),
        Value::Array(items) => items.iter().find_map(broken_pattern),
        _ => None,
    };
    inner.or_else(|| {
        let pattern = schema.get("pattern")?.as_str()?;
        let alone = serde_json::json!({"type": "string", "pattern": pattern});
        jsonschema::validator_for(&alone).is_err().then_some(pattern)
    })
}
