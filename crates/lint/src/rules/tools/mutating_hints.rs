//! `mutating-hints`: tools that change something say so.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "mutating-hints",
    group: Group::Tools,
    level: Level::Warning,
    summary: "a tool whose name says that it changes something has annotations that do not deny it",
    clause: Clause::of("2025-11-25", "schema", "ToolAnnotations"),
    why: "Clients let read-only tools run without asking; a tool that deletes under that flag does so unseen.",
    fix: "Set `readOnlyHint` to false for tools that write, and `destructiveHint` where they overwrite or delete.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const DESTRUCTIVE: [&str; 8] = ["delete", "remove", "drop", "destroy", "purge", "erase", "wipe", "truncate"];
const CHANGING: [&str; 12] = [
    "create", "update", "write", "insert", "edit", "modify", "rename", "move", "set", "send", "post",
    "upload",
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let name = tool.text("name").unwrap_or_default().to_lowercase();
        let verb = name.split(['_', '-', '.']).next().unwrap_or_default();
        let hint = |hint: &str| {
            tool.value.get("annotations").and_then(|it| it.get(hint)).and_then(serde_json::Value::as_bool)
        };
        let destructive = DESTRUCTIVE.contains(&verb);
        if (destructive || CHANGING.contains(&verb)) && hint("readOnlyHint") == Some(true) {
            let message = format!("its name begins with `{verb}`, but it says that it only reads");
            findings.push(tool.finding(message, "/annotations/readOnlyHint").level(Level::Error));
        } else if destructive && hint("destructiveHint") == Some(false) {
            let message = format!("its name begins with `{verb}`, but it says that it destroys nothing");
            findings.push(tool.finding(message, "/annotations/destructiveHint"));
        } else if destructive && tool.value.get("annotations").is_none() {
            let message = format!("its name begins with `{verb}`, and it has no annotations");
            findings.push(tool.finding(message, "/annotations").level(Level::Info));
        }
    }
    Ok(findings)
}
