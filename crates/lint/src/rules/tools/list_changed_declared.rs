//! `list-changed-declared`: changes of lists are announced only where that was declared.

use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "list-changed-declared",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    summary: "`list_changed` is sent only for lists whose capability declares `listChanged`",
    clause: Clause::of("2025-11-25", "server/tools", "List Changed Notification"),
    why: "Clients that were not told to expect it drop the notification, and show the old list.",
    fix: "Declare `\"listChanged\": true` for the capability, or do not send the notification.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.messages();
    if messages.is_empty() {
        return Err(case.missing(&LISTS));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for which in ["tools", "resources", "prompts"] {
        if case.capability(&format!("{which}.listChanged")).is_some() {
            continue;
        }
        let method = format!("notifications/{which}/list_changed");
        if let Some(message) = messages.iter().find(|message| message.method() == Some(&method)) {
            let text = format!("`{method}` comes, and `{which}.listChanged` is not declared");
            findings.push(Finding::new(text).about(which).at(message.frame, message.pointer("/method")));
        }
    }
    Ok(findings)
}
