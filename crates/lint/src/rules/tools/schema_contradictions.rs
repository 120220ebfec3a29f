//! `schema-contradictions`: schemas do not contradict themselves.

use crate::{pointer, probes::LISTS, rules::prelude::*};
use serde_json::Value;
use trunkline_schema::{Budget, Schema};

pub(super) static RULE: Rule = Rule {
    name: "schema-contradictions",
    group: Group::Tools,
    level: Level::Warning,
    summary: "no schema has an empty `enum`, bounds that exclude everything, or a `default` that does not fit",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "No value can satisfy an empty enum or a minimum above the maximum; a default that does not fit is refused by the very schema that offers it.",
    fix: "List the allowed values, and choose the default among them.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Pairs of lower and upper bounds.
const BOUNDS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let properties = tool.value.pointer("/inputSchema/properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let at = format!("/inputSchema/properties/{}", pointer::escape(name));
            if schema.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                findings.push(tool.finding(format!("`{name}` has an empty `enum`"), &format!("{at}/enum")));
                continue;
            }
            let above = BOUNDS.iter().find(|(least, most)| {
                let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
                bound(least).zip(bound(most)).is_some_and(|(least, most)| least > most)
            });
            if let Some((least, most)) = above {
                findings.push(tool.finding(
                    format!("the `{least}` of `{name}` is above its `{most}`"),
                    &format!("{at}/{least}"),
                ));
                continue;
            }
            let Some(default) = schema.get("default").filter(|_| schema.get("$ref").is_none()) else {
                continue;
            };
            let fits = Schema::of_its_draft(schema).map(|schema| schema.accepts(default, Budget::FULL));
            if fits == Ok(Ok(false)) {
                let message = format!("the default {default} of `{name}` does not fit its own schema");
                findings.push(tool.finding(message, &format!("{at}/default")));
            }
        }
    }
    Ok(findings)
}
