//! `tool-name-characters`: tool names have only the specified characters.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-name-characters",
    group: Group::Tools,
    level: Level::Warning,
    summary: "tool names have 1 to 128 characters of A-Z, a-z, 0-9, `_`, `-` and `.`",
    clause: Clause::of("2025-11-25", "server/tools", "Tool Names"),
    why: "Clients and model providers refuse or rewrite other names; two rewritten names may become one.",
    fix: "Rename the tool; blanks, slashes and letters outside ASCII do not belong into names.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(name) = tool.text("name") else { continue };
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if let Some(odd) = name.chars().find(|c| !fits(*c)) {
            findings.push(tool.finding(format!("the name has the character {odd:?}"), "/name"));
        } else if name.chars().count() > 128 {
            findings.push(tool.finding("the name is longer than 128 characters", "/name"));
        }
    }
    Ok(findings)
}
