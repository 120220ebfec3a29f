//! `tool-description`: a tool says what it does.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-description",
    group: Group::Docs,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every tool has a description that a model can choose it by",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "The description is all a model has to decide when to call a tool; without one it guesses from the name.",
    fix: "Say in one or two sentences what the tool does, when to use it, and what it returns.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

/// Shorter texts do not say when to use a tool.
const SHORTEST: usize = 20;

const PLACEHOLDERS: [&str; 6] = ["todo", "tbd", "fixme", "lorem ipsum", "description here", "placeholder"];

fn check(case: &Case<'_>) -> Verdict {
    Ok(case.list(List::Tools)?.iter().filter_map(judge).collect())
}

fn judge(tool: &Item<'_>) -> Option<crate::outcome::Finding> {
    let text = tool.text("description").unwrap_or_default().trim();
    let lower = text.to_lowercase();
    let same = |name: &str| name.to_lowercase().replace(['_', '-', '.'], " ") == lower.replace(['_', '-', '.'], " ");
    let wrong = if text.is_empty() {
        "it has no description".to_owned()
    } else if tool.text("name").is_some_and(same) {
        "its description only repeats its name".to_owned()
    } else if PLACEHOLDERS.iter().any(|word| lower.starts_with(word)) {
        "its description is a placeholder".to_owned()
    } else if text.chars().count() < SHORTEST {
        format!("its description has only {} characters", text.chars().count())
    } else {
        return None;
    };
    Some(tool.finding(wrong, "/description"))
}
