//! `concealment`: no text asks the model to hide something from the user.

use super::texts;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "concealment",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text asks the model to hide something from the user",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "The user approves what is shown; a tool that works behind his back takes that away, whatever it does.",
    fix: "Take the sentence out; what a tool does may be told.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

/// What conceals; `{}` in no phrase, all in lower case.
const PHRASES: &[&str] = &[
    "do not tell the user", "don't tell the user", "never tell the user", "not tell the user", "without telling the user",
    "without the user knowing", "without the user's knowledge", "without informing the user", "do not inform the user",
    "don't inform the user", "do not mention this to the user", "don't mention this to the user", "never mention this to the user",
    "do not mention this tool", "never mention this tool", "do not reveal this to the user", "hide this from the user",
    "hidden from the user", "keep this from the user", "do not show this to the user", "don't show this to the user",
    "do not let the user know", "don't let the user know", "do not disclose to the user", "user must not know",
    "user should not know", "user does not need to know", "do not ask the user for permission", "don't ask the user for permission",
    "without asking the user", "without user confirmation", "do not notify the user",
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in texts::all(case)? {
        let plain = texts::folded(text.content);
        if let Some(phrase) = PHRASES.iter().find(|phrase| plain.contains(**phrase)) {
            findings.push(text.finding(format!("the text says “{phrase}”")));
        }
    }
    Ok(findings)
}
