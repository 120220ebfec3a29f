//! `resource-description`: resources say what they are.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*, rules::words};

pub(super) static RULE: Rule = Rule {
    name: "resource-description",
    group: Group::Docs,
    level: Level::Info,
    summary: "every resource and template has a description",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Users and models choose from a list of names; what is behind them they have to guess.",
    fix: "Add a `description` of one sentence.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for list in [List::Resources, List::Templates] {
        // Templates are optional.
        let items = match case.list(list) {
            Err(_) if list == List::Templates => continue,
            items => items?,
        };
        let silent: Vec<&Item<'_>> = items
            .iter()
            .filter(|item| item.text("description").is_none_or(|it| it.trim().is_empty()))
            .collect();
        let Some(first) = silent.first() else { continue };
        let names: Vec<&str> = silent.iter().filter_map(|item| item.text("name")).collect();
        let message = format!("entries without a description: {}", words::some(&names));
        findings.push(Finding::new(message).about(list.method()).at(first.frame, first.pointer.clone()));
    }
    Ok(findings)
}
