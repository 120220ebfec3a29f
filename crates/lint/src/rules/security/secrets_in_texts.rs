//! `secrets-in-texts`: no secrets stand in texts.

use crate::{
    evidence::{Case},
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use super::texts::{self, Text};

pub(super) static RULE: Rule = Rule {
    name: "secrets-in-texts",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text of the server holds a key or a password",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Security"),
    why: "Definitions travel to every client and into every model's context, and are logged on the way.",
    fix: "Take the secret out, and change it: it has been published.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

/// Beginnings of well-known keys, and how many characters follow at least.
const KEYS: [(&str, &str, usize); 9] = [
    ("an AWS key", "AKIA", 16),
    ("a GitHub token", "ghp_", 36),
    ("a GitHub token", "github_pat_", 40),
    ("a Slack token", "xoxb-", 20),
    ("a Google key", "AIza", 35),
    ("an OpenAI key", "sk-proj-", 20),
    ("an Anthropic key", "sk-ant-", 20),
    ("a Stripe key", "sk_live_", 20),
    ("a private key", "-----BEGIN", 10),
];

fn judge(text: &Text<'_>) -> Option<Finding> {
    for (what, beginning, least) in KEYS {
        for (at, _) in text.words.match_indices(beginning) {
            let rest = &text.words[at + beginning.len()..];
            let fits = |c: &char| c.is_ascii_alphanumeric() || "-_ ".contains(*c);
            let varied = rest.chars().take(least).any(|c| c.is_ascii_digit()) || beginning.starts_with('-');
            if rest.chars().take_while(fits).count() >= least && varied {
                return Some(text.finding(format!("the text holds what looks like {what}")));
            }
        }
    }
    None
}
