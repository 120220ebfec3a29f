//! `template-scheme`: templates expand to absolute URIs.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "template-scheme",
    group: Group::Resources,
    level: Level::Warning,
    summary: "every `uriTemplate` has a variable, and filled in it is a URI with a scheme",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Templates"),
    why: "What comes out cannot be read, or is one resource that should stand in the list.",
    fix: "Put a scheme in front, such as `file:///{path}`; list what has no variable as a resource.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for item in case.list(List::Templates)? {
        let Some(template) = item.text("uriTemplate").filter(|it| !it.is_empty()) else { continue };
        if !template.contains('{') {
            let message = "the template has no variable: it is a resource";
            findings.push(item.finding(message, "/uriTemplate").level(Level::Info));
        } else if !has_scheme(template) {
            findings.push(item.finding(format!("`{template}` filled in has no scheme"), "/uriTemplate"));
        }
    }
    Ok(findings)
}

/// True if it begins with a scheme, or with a variable that may hold one.
fn has_scheme(template: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '{' | '}' | '_');
    let scheme = template.split_once(':').map_or("", |(scheme, _)| scheme);
    template.starts_with('{')
        || (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(part))
}
