//! `resource-uris-unique`: no two resources share a URI.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "resource-uris-unique",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no two resources have the same URI, and no two templates the same template",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Only one of them can be read, and lists in clients show one twice.",
    fix: "Take one of the entries out, or give it a URI of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = twice(&case.list(List::Resources)?, "uri");
    // A server may do without templates.
    findings.extend(twice(&case.list(List::Templates).unwrap_or_default(), "uriTemplate"));
    Ok(findings)
}

fn twice(items: &[Item<'_>], member: &str) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let again = items.iter().filter(|item| item.text(member).is_some_and(|uri| !seen.insert(uri)));
    let tell = |item: &Item<'_>| {
        let uri = item.text(member).unwrap_or_default();
        item.finding(format!("`{uri}` stands twice in the list"), &format!("/{member}"))
    };
    again.map(tell).collect()
}
