//! `output-schema-object`: legacy output schemas describe objects.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "output-schema-object",
    group: Group::Tools,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "the root of `outputSchema` is of type object",
    clause: Clause::of("2025-11-25", "schema", "Tool"),
    why: "Revisions before 2026-07-28 allow objects only; clients refuse other output schemas.",
    fix: "Wrap the value into an object, such as `{\"items\": […]}`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let kind = tool
            .value
            .get("outputSchema")
            .map(|schema| schema.get("type").is_some_and(|kind| kind == "object"));
        if kind == Some(false) {
            findings.push(tool.finding("the root of `outputSchema` is not of type object", "/outputSchema"));
        }
    }
    Ok(findings)
}
