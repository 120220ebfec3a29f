//! `resource-unique`: a URI is listed once.

use crate::{probes::LISTS, rules::prelude::*};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "resource-unique",
    group: Group::Resources,
    level: Level::Error,
    summary: "no two resources have the same URI",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Only one of them can be read; clients show both and give the same for either.",
    fix: "Give each resource a URI of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for resource in case.list(List::Resources)? {
        if let Some(uri) = resource.text("uri")
            && !seen.insert(uri)
        {
            findings.push(resource.finding(format!("the URI `{uri}` stands twice in the list"), "/uri"));
        }
    }
    Ok(findings)
}
