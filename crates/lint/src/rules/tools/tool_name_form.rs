//! `tool-name-form`: names of tools keep to the guidance.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-name-form",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "names of tools have 1 to 128 characters of `A-Z a-z 0-9 _ - .`",
    clause: Clause::of("2025-11-25", "server/tools", "Tool Names"),
    why: "Clients replace other characters or drop the tool, and a call by the listed name fails.",
    fix: "Rename the tool; words are joined by `_` or `-`.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

/// The longest name the guidance allows.
const LONGEST: usize = 128;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(name) = tool.text("name").filter(|name| !name.is_empty()) else { continue };
        let foreign = name.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.'));
        if let Some(foreign) = foreign {
            let message = format!("the name has the character {foreign:?}, which names should not have");
            findings.push(tool.finding(message, "/name"));
        }
        let length = name.chars().count();
        if length > LONGEST {
            findings.push(tool.finding(format!("the name has {length} characters, {LONGEST} are allowed"), "/name"));
        }
    }
    Ok(findings)
}
