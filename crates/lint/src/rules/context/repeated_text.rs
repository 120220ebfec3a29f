//! `repeated-text`: no sentence is repeated in many tools.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "repeated-text",
    group: Group::Context,
    level: Level::Info,
    summary: "no long text stands in the descriptions of many tools",
    clause: Clause::practice("client limits", "context cost"),
    why: "The same paragraph in ten tools costs ten times, in every request.",
    fix: "Say it once, in the server's `instructions`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Shorter sentences may repeat.
const SENTENCE: usize = 80;

/// Number of tools from which a sentence counts as repeated.
const TIMES: usize = 3;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut seen: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for tool in &tools {
        let text = tool.text("description").unwrap_or_default();
        for sentence in text.split(['\n', '.']).map(str::trim).filter(|sentence| sentence.len() >= SENTENCE) {
            seen.entry(sentence).or_default().push(tool);
        }
    }
    let worst = seen
        .into_iter()
        .filter(|(_, tools)| tools.len() >= TIMES)
        .max_by_key(|(text, tools)| text.len() * tools.len());
    let Some((text, repeated)) = worst else { return Ok(Vec::new()) };
    let first = repeated[0];
    let message = format!(
        "{} descriptions have the sentence {:?}",
        repeated.len(),
        text.chars().take(60).collect::<String>()
    );
    Ok(vec![first.finding(message, "/description")])
}
