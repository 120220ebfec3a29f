//! `tool-member-types`: members of a tool have the types of the schema.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-member-types",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`title`, `description`, `annotations` and the hints of a tool have the types that the protocol gives them",
    clause: Clause::of("2025-11-25", "schema", "Tool"),
    why: "Typed clients refuse the whole list for one member of the wrong type.",
    fix: "Write texts as strings, hints as booleans, and leave out what there is no value for; `null` is none.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const TEXTS: [&str; 2] = ["title", "description"];
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        if !tool.value.is_object() {
            findings.push(tool.finding("the tool is not an object", ""));
        }
        for member in TEXTS {
            if tool.value.get(member).is_some_and(|value| !value.is_string()) {
                findings.push(tool.finding(format!("`{member}` is not a string"), &format!("/{member}")));
            }
        }
        for member in ["annotations", "outputSchema", "_meta"] {
            if tool.value.get(member).is_some_and(|value| !value.is_object()) {
                findings.push(tool.finding(format!("`{member}` is not an object"), &format!("/{member}")));
            }
        }
        for hint in HINTS {
            let value = tool.value.get("annotations").and_then(|it| it.get(hint));
            if value.is_some_and(|value| !value.is_boolean()) {
                findings.push(tool.finding(format!("`{hint}` is not a boolean"), &format!("/annotations/{hint}")));
            }
        }
        let title = tool.value.get("annotations").and_then(|it| it.get("title"));
        if title.is_some_and(|title| !title.is_string()) {
            findings.push(tool.finding("`annotations.title` is not a string", "/annotations/title"));
        }
    }
    Ok(findings)
}
