//! `tool-default-fits`: defaults are values that the tool takes.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::schema,
};

pub(super) static RULE: Rule = Rule {
    name: "tool-default-fits",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every `default` fits the schema it stands in",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Clients fill defaults into forms and calls; the server then refuses its own default.",
    fix: "Change the default or the schema; leave `default` out where there is none.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for node in schema::of_tool(&tool) {
            let Some(default) = node.value.get("default") else { continue };
            // A reference needs the schema around it.
            if has_reference(&node) {
                continue;
            }
            let Ok(validator) = jsonschema::validator_for(node.value) else { continue };
            if let Err(error) = validator.validate(default) {
                let finding = tool.finding(format!("the default does not fit its schema: {error}"), &format!("{}/default", node.pointer));
                // `null` is how several SDKs write "no default".
                findings.push(if default.is_null() { finding.level(Level::Info) } else { finding });
            }
        }
    }
    Ok(findings)
}

fn has_reference(node: &schema::Node<'_>) -> bool {
    schema::walk(node.value, "").iter().any(|inner| inner.value.get("$ref").is_some())
}
