//! `tool-hints-given`: tools that change things say so.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::words,
};

pub(super) static RULE: Rule = Rule {
    name: "tool-hints-given",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "tools whose name says that they change something have `annotations`",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Without hints a client has to take every tool for destructive and asks the user each time.",
    fix: "Add `readOnlyHint`, `destructiveHint` and `idempotentHint` as they are true of the tool.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let verb = tool.text("name").and_then(|name| words::words(name).into_iter().next()).unwrap_or_default();
        let hinted = HINTS.iter().any(|hint| tool.value["annotations"].get(hint).is_some());
        if words::MUTATING.contains(&verb.as_str()) && !hinted {
            let message = format!("it seems to {verb} something, and has no hints about that");
            findings.push(tool.finding(message, "/annotations"));
        }
    }
    Ok(findings)
}
