//! `prompt-names`: prompts have unique names.

use crate::{probes::LISTS, rules::prelude::*};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "prompt-names",
    group: Group::Prompts,
    level: Level::Error,
    summary: "every prompt has a name, and no two have the same",
    clause: Clause::of("2025-11-25", "server/prompts", "Prompt"),
    why: "Prompts are chosen by name, often as a slash command; a missing or double one cannot be chosen.",
    fix: "Give each prompt a `name` of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for prompt in case.list(List::Prompts)? {
        match prompt.text("name").filter(|name| !name.is_empty()) {
            None => findings.push(prompt.finding("the prompt has no name", "/name")),
            Some(name) if !seen.insert(name) => {
                findings.push(prompt.finding(format!("the name `{name}` stands twice in the list"), "/name"));
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}
