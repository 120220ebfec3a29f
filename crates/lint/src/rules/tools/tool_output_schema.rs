//! `tool-output-schema`: before 2026-07-28 an output schema is one of objects.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-output-schema",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    summary: "the root of every `outputSchema` is of type object for clients of the legacy era",
    clause: Clause::of("2025-11-25", "server/tools", "Output Schema"),
    why: "Clients of that era take `structuredContent` as an object only and refuse the tool otherwise.",
    fix: "Wrap the value in an object, such as `{\"result\": …}`, at least for legacy clients.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("outputSchema") else { continue };
        if root.get("type").is_none_or(|kind| kind != "object") {
            findings.push(tool.finding("the root of `outputSchema` is not of type object", "/outputSchema/type"));
        }
    }
    Ok(findings)
}
