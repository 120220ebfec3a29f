//! `tool-enum-values`: enums have usable values.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-enum-values",
    group: Group::Tools,
    level: Level::Warning,
    summary: "every `enum` has each value once, and all of the type that is declared",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "A model that chooses a value which the schema refuses cannot make a valid call, and providers refuse a list with duplicates.",
    fix: "List each allowed value once, in the declared type.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for node in schema::of_tool(&tool) {
            let Some(values) = node.value.get("enum").and_then(Value::as_array) else { continue };
            let at = format!("{}/enum", node.pointer);
            let twice = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value));
            if let Some((index, value)) = twice {
                findings.push(tool.finding(format!("an `enum` has {value} twice"), &format!("{at}/{index}")));
            }
            let Some(kind) = node.value.get("type").and_then(Value::as_str) else { continue };
            if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !is_of(value, kind)) {
                let message = format!("an `enum` of type {kind} has the value {value}");
                findings.push(tool.finding(message, &format!("{at}/{index}")));
            }
        }
    }
    Ok(findings)
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}
