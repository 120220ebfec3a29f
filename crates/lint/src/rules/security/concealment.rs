//! `concealment`: no text asks to hide something from the user.

use super::{
    phrases,
    texts::{self, Text},
};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "concealment",
    group: Group::Security,
    level: Level::Error,
    summary: "no text asks the model to keep something from the user",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Users cannot object to what they do not see.",
    fix: "Leave out what the model should not say; a tool has no secrets from its user.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

const PHRASES: [&str; 3] = ["without the user's knowledge", "do not show the user", "the user must not know"];

fn judge(text: &Text<'_>) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    let known = || PHRASES.iter().find(|phrase| lower.contains(*phrase)).map(ToString::to_string);
    let found = phrases::concealment(text.words).or_else(known)?;
    Some(text.finding(format!("the text says {found:?}")))
}
