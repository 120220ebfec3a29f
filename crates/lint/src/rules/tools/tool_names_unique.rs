//! `tool-names-unique`: no two tools share a name.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "tool-names-unique",
    group: Group::Tools,
    level: Level::Error,
    summary: "no two tools of a server have the same name",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "A call by that name reaches only one of them, and model providers refuse a list with duplicates.",
    fix: "Rename one of the tools.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut first: BTreeMap<&str, Item<'_>> = BTreeMap::new();
    for tool in case.list(List::Tools)? {
        let Some(name) = tool.text("name") else { continue };
        match first.get(name) {
            Some(earlier) => {
                let message = format!("the name `{name}` stands twice in the list");
                findings.push(tool.finding(message, "/name").with_frame(earlier.frame));
            }
            None => {
                first.insert(name, tool);
            }
        }
    }
    Ok(findings)
}
