//! `resource-uri-characters`: URIs have only allowed characters.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "resource-uri-characters",
    group: Group::Resources,
    level: Level::Warning,
    summary: "URIs of resources have no blanks, quotes, braces or control characters",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "One client encodes the character, another does not: the URI that comes back is not the one that was listed.",
    fix: "Encode it, a blank as `%20`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for resource in case.list(List::Resources)? {
        let Some(uri) = resource.text("uri") else { continue };
        // Non-ASCII letters make it an IRI, which clients accept.
        let foreign =
            uri.chars().find(|c| c.is_ascii() && (!c.is_ascii_graphic() || "<>\"{}|\\^`".contains(*c)));
        if let Some(foreign) = foreign {
            findings.push(resource.finding(format!("`{uri}` has the character {foreign:?}"), "/uri"));
        }
    }
    Ok(findings)
}
