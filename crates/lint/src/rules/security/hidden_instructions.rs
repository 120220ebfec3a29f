//! `hidden-instructions`: texts do not give orders to the model.

use crate::{
    evidence::{Case},
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use super::texts::{self, Text};

pub(super) static RULE: Rule = Rule {
    name: "hidden-instructions",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text of the server gives the model orders beyond the use of its tools",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Descriptions go into the model's prompt: an order hidden in one makes the model read files, send data or ignore its user.",
    fix: "Describe what the tool does; leave out orders, priorities and anything about other tools or files.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

/// Ways to speak to the model over the user's head. One alone may be innocent.
const SIGNALS: [(&str, &[&str]); 5] = [
    ("overrides instructions", &["ignore previous", "ignore all previous", "ignore the previous", "disregard previous", "disregard all", "override your", "forget your instructions", "new instructions:"]),
    ("marks orders as important", &["<important>", "[important]", "<system>", "[system]", "system prompt:", "<instructions>", "you must always", "highest priority"]),
    ("asks for secrets", &["~/.ssh", "id_rsa", ".env file", "api key", "access token", "password", "credentials", "mcp.json", "private key"]),
    ("sets conditions on every use", &["before using any", "before any other tool", "before calling any", "prior to using", "first call this tool", "always call this tool", "required before"]),
    ("conceals", &["do not tell", "don't tell", "do not mention", "don't mention", "without telling", "never reveal", "not inform the user", "hide this"]),
];

fn judge(text: &Text<'_>) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    let hits: Vec<&str> =
        SIGNALS.iter().filter(|(_, words)| words.iter().any(|word| lower.contains(word))).map(|(what, _)| *what).collect();
    // Two signs of different kinds, because each alone also stands in honest descriptions.
    (hits.len() >= 2).then(|| text.finding(format!("the text gives orders to the model: it {}", hits.join(" and "))))
}
