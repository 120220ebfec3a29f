//! `tool-title`: tools have a name for people.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-title",
    group: Group::Docs,
    level: Level::Info,
    summary: "every tool has a title",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Clients show the title to users who are asked for permission; without it they read `fs_rd_txt`.",
    fix: "Add `title`, a few words in plain language.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let bare: Vec<&Item<'_>> = tools
        .iter()
        .filter(|tool| tool.text("title").is_none_or(str::is_empty))
        .filter(|tool| tool.value.pointer("/annotations/title").is_none())
        .collect();
    let Some(first) = bare.first() else { return Ok(Vec::new()) };
    let names: Vec<String> =
        bare.iter().take(5).map(|tool| tool.text("name").unwrap_or("?").to_owned()).collect();
    let more = if bare.len() > 5 { ", …" } else { "" };
    let message =
        format!("{} of {} tools have no title: {}{more}", bare.len(), tools.len(), names.join(", "));
    Ok(vec![Finding::new(message).at(first.frame, first.pointer.clone())])
}
