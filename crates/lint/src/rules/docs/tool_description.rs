//! `tool-description`: a tool says what it does.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-description",
    group: Group::Docs,
    level: Level::Warning,
    summary: "every tool has a description that a model can choose it by",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "The description is all a model has to decide when to call a tool; without one it guesses from the name.",
    fix: "Say in one or two sentences what the tool does, when to use it, and what it returns.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Shorter texts do not say when to use a tool.
const SHORTEST: usize = 20;

const PLACEHOLDERS: [&str; 6] = ["todo", "tbd", "fixme", "lorem ipsum", "description here", "placeholder"];

fn check(case: &Case<'_>) -> Verdict {
    Ok(case.list(List::Tools)?.iter().filter_map(judge).collect())
}

fn judge(tool: &Item<'_>) -> Option<Finding> {
    let text = tool.text("description").unwrap_or_default().trim();
    let lower = text.to_lowercase();
    let spaced = |name: &str| name.to_lowercase().replace(['_', '-', '.'], " ");
    if text.is_empty() {
        return Some(tool.finding("it has no description", "/description"));
    }
    if tool.text("name").is_some_and(|name| spaced(name) == spaced(&lower)) {
        return Some(tool.finding("its description only repeats its name", "/description"));
    }
    if PLACEHOLDERS.iter().any(|word| lower.starts_with(word)) {
        return Some(tool.finding("its description is a placeholder", "/description"));
    }
    let length = text.chars().count();
    // A short text may be sufficient, which this rule cannot know.
    let short = || tool.finding(format!("its description has only {length} characters"), "/description");
    (length < SHORTEST).then(|| short().level(Level::Info))
}
