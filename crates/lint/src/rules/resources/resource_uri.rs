//! `resource-uri`: resources have a name and an absolute URI.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "resource-uri",
    group: Group::Resources,
    level: Level::Error,
    summary: "every resource has a name and an absolute URI",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "A resource without a URI cannot be read, one without a name cannot be chosen.",
    fix: "Give each resource a `uri` with a scheme (RFC 3986) and a `name`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for resource in case.list(List::Resources)? {
        if resource.text("name").is_none_or(str::is_empty) {
            findings.push(resource.finding("the resource has no name", "/name"));
        }
        match resource.text("uri") {
            None => findings.push(resource.finding("the resource has no `uri`", "/uri")),
            Some(uri) => {
                if let Err(error) = url::Url::parse(uri) {
                    findings
                        .push(resource.finding(format!("`{uri}` is not an absolute URI: {error}"), "/uri"));
                }
            }
        }
    }
    Ok(findings)
}
