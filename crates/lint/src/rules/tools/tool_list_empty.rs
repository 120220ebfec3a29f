//! `tool-list-empty`: a server that declares tools lists at least one.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-list-empty",
    group: Group::Tools,
    level: Level::Info,
    summary: "a server that declares `tools` lists at least one",
    clause: Clause::of("2025-11-25", "server/tools", "Capabilities"),
    why: "Users see a server that is connected and can do nothing, usually because a login or a setting is missing.",
    fix: "Say in the instructions what is missing, or do not declare `tools`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let first = case.first(&LISTS, List::Tools.step())?;
    Ok(tools
        .is_empty()
        .then(|| first.finding("the list of tools is empty", "/result/tools"))
        .into_iter()
        .collect())
}
