//! `encoded-text`: no description carries encoded text.

use super::words;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use base64::Engine as _;

pub(super) static RULE: Rule = Rule {
    name: "encoded-text",
    group: Group::Security,
    level: Level::Warning,
    summary: "no description carries encoded text",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Models decode base64 as they read; people who approve a tool do not, so that it can say anything.",
    fix: "Write the text in plain words, or take it out.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Shorter runs are names, hashes or examples.
const SHORTEST: usize = 40;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in words::all(case)? {
        let runs = text
            .content
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')));
        let decoded = runs.filter(|run| run.len() >= SHORTEST).find_map(decoded);
        if let Some(decoded) = decoded {
            let shown: String = decoded.chars().take(60).collect();
            findings.push(text.finding(format!("encoded text in it reads {shown:?}")));
        }
    }
    Ok(findings)
}

/// The decoded base64, if it is readable text.
fn decoded(run: &str) -> Option<String> {
    let usual: String = run.trim_end_matches('=').replace('-', "+").replace('_', "/");
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(usual).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let plain = text.chars().all(|c| !c.is_control() || c.is_whitespace());
    (plain && text.split_whitespace().count() >= 3).then_some(text)
}
