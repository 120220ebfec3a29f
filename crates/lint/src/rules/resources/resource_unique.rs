//! `resource-unique`: a URI is listed once.

use super::repeated;
use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "resource-unique",
    group: Group::Resources,
    level: Level::Error,
    summary: "no two resources have the same URI",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Only one of them can be read; clients show both and give the same for either.",
    fix: "Give each resource a URI of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let repeated = repeated(case.list(List::Resources)?, "uri");
    Ok(repeated
        .map(|(item, value)| item.finding(format!("the URI `{value}` stands twice in the list"), "/uri"))
        .collect())
}
