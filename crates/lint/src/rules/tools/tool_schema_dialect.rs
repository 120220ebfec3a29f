//! `tool-schema-dialect`: schemas use a known dialect.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use trunkline_schema::Draft;

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-dialect",
    group: Group::Tools,
    level: Level::Info,
    summary: "`$schema` is absent or names a published draft of JSON Schema",
    clause: Clause::of("2025-11-25", "basic", "Schema Dialect"),
    why: "A client must at least know 2020-12; with another dialect it refuses the schema or reads it wrongly.",
    fix: "Leave `$schema` out, or name `https://json-schema.org/draft/2020-12/schema`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            let Some(dialect) = root.get("$schema") else { continue };
            if Draft::default().detect(root) == Draft::Unknown {
                let message = format!("{dialect} is not a published draft of JSON Schema");
                findings.push(tool.finding(message, &format!("{pointer}/$schema")));
            }
        }
    }
    Ok(findings)
}
