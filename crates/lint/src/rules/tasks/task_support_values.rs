//! `task-support-values`: `taskSupport` of a tool is `required`, `optional` or `forbidden`.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "task-support-values",
    group: Group::Tasks,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "`taskSupport` of a tool is `required`, `optional` or `forbidden`",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Tool-Level Negotiation"),
    why: "A client that does not know the word calls the tool the wrong way, or drops it.",
    fix: "Use one of the three words, or leave `execution` out.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let support = tool.value.pointer("/execution/taskSupport");
        if let Some(support) = support
            .filter(|support| !["required", "optional", "forbidden"].iter().any(|known| *support == known))
        {
            findings.push(tool.finding(format!("`taskSupport` is {support}"), "/execution/taskSupport"));
        }
    }
    Ok(findings)
}
