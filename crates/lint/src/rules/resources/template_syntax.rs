//! `template-syntax`: URI templates can be expanded.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "template-syntax",
    group: Group::Resources,
    level: Level::Warning,
    summary: "every resource template is a valid RFC 6570 template with a name",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Templates"),
    why: "Clients cannot expand a broken template, and leave it out.",
    fix: "Write variables as `{name}`; see RFC 6570 for the other forms.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for template in case.list(List::Templates)? {
        if template.text("name").is_none_or(str::is_empty) {
            findings.push(template.finding("the template has no name", "/name"));
        }
        match template.text("uriTemplate") {
            None => findings.push(template.finding("the template has no `uriTemplate`", "/uriTemplate")),
            Some(text) => {
                if let Some(wrong) = wrong(text) {
                    findings.push(template.finding(wrong, "/uriTemplate"));
                }
            }
        }
    }
    Ok(findings)
}

/// The first error in a template, by the grammar of RFC 6570.
fn wrong(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        if rest[at..].starts_with('}') {
            return Some("a `}` closes nothing".to_owned());
        }
        let Some(end) = rest[at..].find('}') else { return Some("a `{` is not closed".to_owned()) };
        let inside = &rest[at + 1..at + end];
        let names = inside.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(inside);
        for name in names.split(',') {
            let bare = name.strip_suffix('*').unwrap_or(name);
            let (bare, length) =
                bare.split_once(':').map_or((bare, None), |(bare, length)| (bare, Some(length)));
            let fits = |c: char| c.is_ascii_alphanumeric() || "_.%".contains(c);
            let sized = length.is_none_or(|length| length.parse::<u16>().is_ok_and(|length| length < 10_000));
            if bare.is_empty() || !bare.chars().all(fits) || !sized {
                return Some(format!("`{{{inside}}}` is no expression of RFC 6570"));
            }
        }
        rest = &rest[at + end + 1..];
    }
    None
}
