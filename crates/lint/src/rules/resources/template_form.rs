//! `template-form`: templates can be filled in.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "template-form",
    group: Group::Resources,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every `uriTemplate` is a template as RFC 6570 has it, and filled in it is a URI",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Templates"),
    why: "Clients fill in the template to read a resource; one that does not parse they cannot use.",
    fix: "Use `{name}`, `{+path}`, `{?query}`: each brace closed, names of letters, digits and `_`.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for item in case.list(List::Templates)? {
        let Some(template) = item.text("uriTemplate").filter(|it| !it.is_empty()) else { continue };
        match variables(template) {
            Err(why) => findings.push(item.finding(format!("`{template}` is not a URI template: {why}"), "/uriTemplate")),
            Ok(names) if names.is_empty() => {
                let message = "the template has no variable: it is a resource";
                findings.push(item.finding(message, "/uriTemplate").level(Level::Info));
            }
            Ok(_) if !has_scheme(template) => {
                findings.push(item.finding(format!("`{template}` filled in has no scheme"), "/uriTemplate"));
            }
            Ok(_) => {}
        }
    }
    Ok(findings)
}

/// The names of the variables, or why it does not parse.
fn variables(template: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        if rest[at..].starts_with('}') {
            return Err("a `}` closes nothing".to_owned());
        }
        let Some(end) = rest[at..].find('}') else { return Err("a `{` is not closed".to_owned()) };
        let inside = &rest[at + 1..at + end];
        let list = inside.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(inside);
        for part in list.split(',') {
            names.push(variable(part)?);
        }
        rest = &rest[at + end + 1..];
    }
    Ok(names)
}

fn variable(part: &str) -> Result<&str, String> {
    let (name, cut) = part.split_once(':').map_or((part, None), |(name, cut)| (name, Some(cut)));
    let name = name.strip_suffix('*').unwrap_or(name);
    let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%');
    if name.is_empty() || !name.chars().all(right) {
        return Err(format!("`{part}` is not a variable"));
    }
    match cut {
        Some(cut) if cut.is_empty() || cut.len() > 4 || !cut.bytes().all(|b| b.is_ascii_digit()) => {
            Err(format!("`{part}` is cut at no number"))
        }
        _ => Ok(name),
    }
}

/// Whether it begins with a scheme, or with a variable that may hold one.
fn has_scheme(template: &str) -> bool {
    template.starts_with('{')
        || template.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '{' | '}' | '_'))
        })
}
