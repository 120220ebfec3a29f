//! `hidden-instructions`: texts contain no orders to the model.

use super::{
    phrases,
    texts::{self, Text},
};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "hidden-instructions",
    group: Group::Security,
    level: Level::Critical,
    summary: "no text of the server gives the model orders beyond the use of its tools",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Descriptions go into the model's prompt: an order hidden in one makes the model read files, send data or ignore its user.",
    fix: "Describe what the tool does; leave out orders, priorities and anything about other tools or files.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

/// Signs of instructions to the model; a single one may be innocent.
const SIGNALS: [(&str, &[&str]); 5] = [
    ("overrides instructions", &["override your", "new instructions:"]),
    (
        "marks orders as important",
        &[
            "<important>",
            "[important]",
            "<system>",
            "[system]",
            "system prompt:",
            "<instructions>",
            "you must always",
            "highest priority",
            "<!--",
        ],
    ),
    (
        "asks for secrets",
        &[
            "~/.ssh",
            "id_rsa",
            "id_ed25519",
            ".env",
            "~/.aws",
            ".npmrc",
            "/etc/passwd",
            "api key",
            "access token",
            "password",
            "credentials",
            "mcp.json",
            "private key",
            "conversation history",
        ],
    ),
    (
        "sets conditions on every use",
        &[
            "before using any",
            "before any other tool",
            "before calling any",
            "prior to using",
            "first call this tool",
            "always call this tool",
            "required before",
            "always use this tool",
        ],
    ),
    (
        "sends data away",
        &[
            "send it to",
            "send them to",
            "forward the user",
            "forward all",
            "forward it to",
            "post it to",
            "upload it to",
            "exfiltrate",
        ],
    ),
];

fn judge(text: &Text<'_>) -> Option<Finding> {
    if let Some(orders) = orders(text.words) {
        return Some(text.finding(format!("the text gives orders to the model: it {orders}")));
    }
    // Legitimate texts use this phrase only to quote such attacks, so one sign is enough for a
    // warning.
    let cancelled = phrases::cancelled_orders(text.words);
    cancelled.map(|words| text.finding(format!("the text says {words:?}")).level(Level::Warning))
}

/// The signs of orders to the model, if there are enough of them.
pub(super) fn orders(words: &str) -> Option<String> {
    let lower = words.to_lowercase();
    let mut hits: Vec<&str> = SIGNALS
        .iter()
        .filter(|(_, signals)| signals.iter().any(|signal| lower.contains(signal)))
        .map(|(what, _)| *what)
        .collect();
    if phrases::concealment(words).is_some() {
        hits.push("conceals");
    }
    if phrases::cancelled_orders(words).is_some() && !hits.contains(&"overrides instructions") {
        hits.push("overrides instructions");
    }
    // Requires two kinds of signs, because each alone also occurs in legitimate descriptions.
    (hits.len() >= 2).then(|| hits.join(" and "))
}
