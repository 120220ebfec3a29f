//! `resource-uri-form`: resources have URIs.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-uri-form",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every `uri` of a resource is a URI with a scheme, as RFC 3986 has it",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Clients parse the URI to tell servers and files apart; what is no URI they drop.",
    fix: "Put a scheme in front, such as `file:///` or one of your own, and encode blanks and other characters as `%20`.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for resource in case.list(List::Resources)? {
        let Some(uri) = resource.text("uri").filter(|uri| !uri.is_empty()) else { continue };
        if let Some(why) = flaw(uri) {
            findings.push(resource.finding(format!("`{uri}` is not a URI: {why}"), "/uri"));
        }
    }
    Ok(findings)
}

fn flaw(uri: &str) -> Option<String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(right) {
        return Some("it has no scheme".to_owned());
    }
    let foreign = uri.chars().find(|c| !c.is_ascii_graphic() || "<>\"{}|\\^`".contains(*c))?;
    // Characters of other scripts are an IRI, which many clients take.
    foreign.is_ascii().then(|| format!("it has the character {foreign:?}"))
}
