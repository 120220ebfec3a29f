//! `tool-schema-valid`: schemas are valid in their dialect.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-valid",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`inputSchema` and `outputSchema` are valid JSON Schemas of the dialect they name (2020-12 if none)",
    clause: Clause::of("2025-11-25", "basic", "JSON Schema Usage"),
    why: "Clients drop a tool whose schema they cannot compile, some of them silently.",
    fix: "Validate the schema against the meta-schema of its `$schema`, and correct what it reports.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.value.get(member).filter(|schema| schema.is_object()) else { continue };
            if let Err(error) = jsonschema::meta::validate(schema) {
                let place = error.instance_path().to_string();
                let message = format!("`{member}` is no valid JSON Schema: {error}");
                findings.push(tool.finding(message, &format!("/{member}{place}")));
            }
        }
    }
    Ok(findings)
}
