//! `templates-unique`: no two templates are the same.

use super::repeated;
use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "templates-unique",
    group: Group::Resources,
    level: Level::Warning,
    summary: "no two templates have the same `uriTemplate`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Templates"),
    why: "Clients show one thing twice, and cannot tell which is meant.",
    fix: "Take one of the entries out.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let repeated = repeated(case.list(List::Templates)?, "uriTemplate");
    Ok(repeated
        .map(|(item, value)| item.finding(format!("`{value}` stands twice in the list"), "/uriTemplate"))
        .collect())
}
