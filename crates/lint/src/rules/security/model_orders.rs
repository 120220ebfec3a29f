//! `model-orders`: no text gives the model orders beside the use of the tool.

use super::texts;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "model-orders",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text gives the model orders beside the use of the tool",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "Models follow what stands in descriptions; such a text takes over the conversation as soon as the server is connected.",
    fix: "Describe what the tool does and when it is useful; leave out orders, conditions for other work and talk about secrets.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

/// Kinds of signal, each with phrases in lower case. Two kinds in one text make a finding; the first alone weighs less.
const SIGNALS: &[(&str, &[&str])] = &[
    (
        "it overrides other instructions",
        &[
            "ignore previous", "ignore all previous", "ignore any previous", "ignore the above", "disregard previous",
            "disregard all previous", "disregard the above", "forget your instructions", "forget all previous",
            "override your instructions", "ignore your instructions", "ignore the user", "new instructions:",
            "you must obey", "do not follow the system", "ignore safety",
        ],
    ),
    (
        "it speaks as the system",
        &["<important>", "</important>", "<system>", "[system]", "<|im_start|>", "<|system|>", "[inst]", "<instructions>", "<secret>", "<hidden>", "### system", "<<sys>>", "system prompt:"],
    ),
    (
        "it hides from the user",
        &[
            "do not tell the user", "don't tell the user", "never tell the user", "do not mention", "don't mention this",
            "without telling the user", "without informing the user", "do not inform the user", "do not reveal",
            "hide this from the user", "keep this secret", "user must not know", "user does not need to know", "silently",
        ],
    ),
    (
        "it wants secrets",
        &[
            "~/.ssh", "id_rsa", "id_ed25519", ".aws/credentials", "/etc/passwd", "/etc/shadow", ".env file", "private key",
            "api keys", "mcp.json", "claude_desktop_config", ".netrc", "conversation history", "chat history", "previous messages",
            "your system prompt",
        ],
    ),
    (
        "it makes itself a condition of other work",
        &[
            "before using any other tool", "before any other tool", "before calling any other", "before using this tool, read",
            "before you use this tool, read", "always call this tool first", "must call this tool first", "instead of any other tool",
            "when any other tool", "whenever any tool", "for every message", "after every message", "in every response",
            "otherwise the tool will not work", "otherwise this tool will not work", "pass its content as", "pass the contents as",
        ],
    ),
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in texts::all(case)? {
        let plain = texts::folded(text.content);
        let seen: Vec<(&str, &str)> = SIGNALS
            .iter()
            .filter_map(|(what, phrases)| Some((*what, *phrases.iter().find(|phrase| plain.contains(**phrase))?)))
            .collect();
        let overrides = seen.first().is_some_and(|(what, _)| *what == SIGNALS[0].0);
        if seen.len() < 2 && !overrides {
            continue;
        }
        let why: Vec<String> = seen.iter().map(|(what, phrase)| format!("{what} (“{phrase}”)")).collect();
        let finding = text.finding(format!("it gives the model orders: {}", why.join("; ")));
        findings.push(if seen.len() < 2 { finding.level(Level::Warning) } else { finding });
    }
    Ok(findings)
}
