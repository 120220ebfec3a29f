//! `resource-readable`: listed resources can be read.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::{prelude::*, resource_reads},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-readable",
    group: Group::Resources,
    level: Level::Error,
    summary: "every listed resource can be read",
    clause: Clause::of("2025-11-25", "server/resources", "Reading Resources"),
    why: "The user picks a resource from the list and gets an error.",
    fix: "List only what can be read, or correct how it is read.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in resource_reads(case)? {
        if asked.result().is_none() {
            let message =
                format!("the listed resource `{}` cannot be read: {}", asked.variant(), asked.describe());
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    Ok(findings)
}
