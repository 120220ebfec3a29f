//! `tool-title`: tools have a title for people.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::words,
};

pub(super) static RULE: Rule = Rule {
    name: "tool-title",
    group: Group::Docs,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every tool has a `title`",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Clients show the title to users who approve a call; without one they see the technical name.",
    fix: "Add `title`: a few words as a user would say them.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let titled = |tool: &Item<'_>| tool.text("title").is_some() || tool.value["annotations"]["title"].is_string();
    let without: Vec<&Item<'_>> = tools.iter().filter(|tool| !titled(tool)).collect();
    let Some(first) = without.first() else { return Ok(Vec::new()) };
    let names: Vec<&str> = without.iter().filter_map(|tool| tool.text("name")).collect();
    let message = format!("tools without a title: {}", words::some(&names));
    Ok(vec![Finding::new(message).at(first.frame, first.pointer.clone())])
}
