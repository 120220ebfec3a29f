//! `hints-contradict`: hints do not contradict each other.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "hints-contradict",
    group: Group::Tools,
    level: Level::Warning,
    summary: "no tool is said to be read-only and destructive at once",
    clause: Clause::of("2025-11-25", "schema", "ToolAnnotations"),
    why: "Clients believe one of the two: they ask for every read, or for no deletion.",
    fix: "Leave `destructiveHint` out where `readOnlyHint` is true.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let hints = &tool.value["annotations"];
        if hints["readOnlyHint"] == true && hints["destructiveHint"] == true {
            let message = "it is said to be read-only and destructive at once";
            findings.push(tool.finding(message, "/annotations/destructiveHint"));
        }
    }
    Ok(findings)
}
