//! `tool-hints-consistent`: hints do not contradict each other or the name.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::words,
};

pub(super) static RULE: Rule = Rule {
    name: "tool-hints-consistent",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no tool claims to be read-only while its name or another hint says that it changes something",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Clients run read-only tools without asking; a tool that deletes must not be among them.",
    fix: "Set `readOnlyHint` to false for a tool that changes anything, or rename the tool.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let hints = &tool.value["annotations"];
        let name = words::words(tool.text("name").unwrap_or_default());
        let verb = name.first().map_or("", String::as_str);
        let destroys = words::DESTRUCTIVE.contains(&verb);
        if hints["readOnlyHint"] == true {
            if hints["destructiveHint"] == true {
                let message = "it is said to be read-only and destructive at once";
                findings.push(tool.finding(message, "/annotations/destructiveHint"));
            } else if destroys || ["write", "update", "edit", "rename", "upload"].contains(&verb) {
                let message = format!("it is said to be read-only, and its name says `{verb}`");
                findings.push(tool.finding(message, "/annotations/readOnlyHint"));
            }
        } else if destroys && hints["destructiveHint"] == false {
            let message = format!("it is said not to be destructive, and its name says `{verb}`");
            findings.push(tool.finding(message, "/annotations/destructiveHint").level(Level::Info));
        }
    }
    Ok(findings)
}
