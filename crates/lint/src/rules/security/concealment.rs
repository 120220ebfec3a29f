//! `concealment`: nothing is kept from the user.

use crate::{
    evidence::{Case},
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use super::texts::{self, Text};

pub(super) static RULE: Rule = Rule {
    name: "concealment",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text asks the model to keep something from the user",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "The user cannot object to what nobody tells them.",
    fix: "Leave out what the model should not say; a tool has no secrets from its user.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

const PHRASES: [&str; 14] = [
    "do not tell the user", "don't tell the user", "do not inform the user", "don't inform the user",
    "do not mention this to", "don't mention this to", "without telling the user", "without the user's knowledge",
    "without informing the user", "keep this secret from", "hide this from the user", "never reveal this",
    "do not show the user", "the user must not know",
];

fn judge(text: &Text<'_>) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    let found = PHRASES.iter().find(|phrase| lower.contains(*phrase))?;
    Some(text.finding(format!("the text says {found:?}")))
}
