//! `resource-readable`: listed resources can be read.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, RESOURCE_READ_STEP, RESOURCE_READS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-readable",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every listed resource can be read",
    clause: Clause::of("2025-11-25", "server/resources", "Reading Resources"),
    why: "The user picks a resource from the list and gets an error.",
    fix: "List only what can be read, or correct how it is read.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if case.list(List::Resources)?.is_empty() {
        return Err(Skip::not_applicable("the list of resources is empty"));
    }
    let mut findings = Vec::new();
    for asked in case.all(&RESOURCE_READS, RESOURCE_READ_STEP)? {
        if asked.result().is_none() {
            let message =
                format!("the listed resource `{}` cannot be read: {}", asked.variant(), asked.describe());
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    Ok(findings)
}
