//! `terminal-escapes`: no text has control characters.

use super::texts;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "terminal-escapes",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text has control characters",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Shown in a terminal, an escape sequence can hide text, move the cursor or change what the user believes to approve.",
    fix: "Take control characters other than newline and tab out of all texts.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in texts::all(case)? {
        let bad = text.content.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
        if let Some(bad) = bad {
            findings.push(text.finding(format!("there is the control character U+{:04X}", u32::from(bad))));
        }
    }
    Ok(findings)
}
