//! `resource-readable`: what is listed can be read.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, READ_RESOURCES, READ_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-readable",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every listed resource that is asked for can be read",
    clause: Clause::of("2025-11-25", "server/resources", "Reading Resources"),
    why: "Users choose a resource from the list and get an error.",
    fix: "Answer `resources/read` for every URI in the list, or take it out of the list.",
    needs: &[&LISTS, &READ_RESOURCES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    let mut findings = Vec::new();
    let asked = case.all(&READ_RESOURCES, READ_RESOURCE_STEP).map_err(|missing| nothing_listed(case).unwrap_or(missing))?;
    for asked in asked {
        if asked.result().is_none() {
            let message = format!("it is listed and cannot be read: {}", asked.describe());
            findings.push(asked.finding(message, "/error").about(asked.variant()));
        }
    }
    Ok(findings)
}

fn nothing_listed(case: &Case<'_>) -> Option<Skip> {
    let empty = case.list(List::Resources).is_ok_and(|resources| resources.is_empty());
    empty.then(|| Skip::not_applicable("the server lists no resources"))
}
