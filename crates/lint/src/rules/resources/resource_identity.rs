//! `resource-identity`: resources can be named and asked for.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-identity",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every resource has a `uri` and a `name`, and every template a `uriTemplate` and a `name`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Typed clients refuse the whole list for one entry that lacks them.",
    fix: "Give the entry both; the file name will do as a name.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for item in case.list(List::Resources)? {
        findings.extend(lacking(&item, "uri", "resource"));
    }
    // A server may do without templates.
    for item in case.list(List::Templates).unwrap_or_default() {
        findings.extend(lacking(&item, "uriTemplate", "template"));
    }
    Ok(findings)
}

fn lacking(item: &Item<'_>, uri: &str, what: &str) -> Vec<Finding> {
    let lacks = |member: &&str| item.text(member).is_none_or(str::is_empty);
    let tell = |member: &str| item.finding(format!("the {what} has no `{member}`"), &format!("/{member}"));
    [uri, "name"].into_iter().filter(lacks).map(tell).collect()
}
