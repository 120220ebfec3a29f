//! `templates-unique`: no two templates are the same.

use crate::{probes::LISTS, rules::prelude::*};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "templates-unique",
    group: Group::Resources,
    level: Level::Warning,
    summary: "no two templates have the same `uriTemplate`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Templates"),
    why: "Clients show one thing twice, and cannot tell which is meant.",
    fix: "Take one of the entries out.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for item in case.list(List::Templates)? {
        if let Some(template) = item.text("uriTemplate")
            && !seen.insert(template)
        {
            findings.push(item.finding(format!("`{template}` stands twice in the list"), "/uriTemplate"));
        }
    }
    Ok(findings)
}
