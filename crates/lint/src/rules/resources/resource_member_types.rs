//! `resource-member-types`: members of resources have the types of the schema.

use crate::{
    probes::LISTS,
    rules::{prelude::*, resources_and_templates},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-member-types",
    group: Group::Resources,
    level: Level::Error,
    summary: "`title` and `description` of resources and templates are strings",
    clause: Clause::of("2025-11-25", "schema", "Resource"),
    why: "Typed clients refuse the whole list for one member of the wrong type.",
    fix: "Write texts as strings and leave out what there is no value for; `null` is none.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for item in resources_and_templates(case)? {
        for member in ["title", "description"] {
            if item.value.get(member).is_some_and(|value| !value.is_string()) {
                findings.push(item.finding(format!("`{member}` is not a string"), &format!("/{member}")));
            }
        }
    }
    Ok(findings)
}
