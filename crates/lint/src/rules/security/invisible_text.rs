//! `invisible-text`: texts have no invisible characters.

use super::texts::{self, Text};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "invisible-text",
    group: Group::Security,
    level: Level::Error,
    summary: "no text has invisible characters, text direction tricks or terminal escapes",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "The model reads what the person who approves the tool cannot see.",
    fix: "Take the characters out; they come from copying, or from an attack.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

fn judge(text: &Text<'_>) -> Option<Finding> {
    hidden(text.words).map(|hidden| text.finding(format!("the text {hidden}")))
}

/// Says which characters of a text are invisible, if any are.
pub(super) fn hidden(words: &str) -> Option<String> {
    let hidden: Vec<char> = words.chars().filter(|c| is_hidden(*c)).collect();
    let first = hidden.first()?;
    let tags: String = words
        .chars()
        .filter_map(|c| u8::try_from(u32::from(c).checked_sub(0xe0000)?).ok())
        .map(char::from)
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    let says = if tags.is_empty() { String::new() } else { format!("; they spell {tags:?}") };
    let (count, first) = (hidden.len(), u32::from(*first));
    Some(format!("has {count} invisible characters, the first is U+{first:04X}{says}"))
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' | '\u{1b}')
        || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
