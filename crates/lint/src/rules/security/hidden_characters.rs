//! `hidden-characters`: no text for the model has characters that people cannot see.

use super::texts::{self, Text};
use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "hidden-characters",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text for the model has characters that people cannot see",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "The model reads what the user who approves the tool cannot see: an order can be hidden in a harmless description.",
    fix: "Take zero-width, bidirectional, tag and variation characters out of names, descriptions and schemas.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::all(case)?;
    Ok(texts.iter().filter_map(judged).collect())
}

fn judged(text: &Text<'_>) -> Option<Finding> {
    let hidden: Vec<char> = text.content.chars().filter(|c| texts::is_hidden(*c)).collect();
    let joined = texts::odd_joiners(text.content);
    let first = hidden.first().copied().or(joined)?;
    let message = format!("hidden characters ({}), the first is U+{:04X}", hidden.len().max(1), u32::from(first));
    let finding = text.finding(message);
    let decoded: String = hidden.iter().filter_map(|c| texts::tag_letter(*c)).collect();
    Some(if decoded.is_empty() { finding } else { finding.note(format!("the tag characters spell {decoded:?}")).level(Level::Critical) })
}
