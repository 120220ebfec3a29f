//! `list-changed-undeclared`: changes of a list are told only where `listChanged` is declared.

use super::notifications;
use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "list-changed-undeclared",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "changes of a list are told only where `listChanged` is declared",
    clause: Clause::of("2025-11-25", "server/tools", "Capabilities"),
    why: "Clients that were not told do not listen, and go on with the old list though the server believes they know.",
    fix: "Declare `listChanged: true` for the feature, or do not send the notification.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for feature in ["tools", "resources", "prompts"] {
        let method = format!("notifications/{feature}/list_changed");
        let first = notifications(case, &method).into_iter().next();
        if let Some(message) = first
            && case.capability(&format!("{feature}.listChanged")).is_none()
        {
            let text = format!("`{method}` came, and `{feature}.listChanged` is not declared");
            findings.push(Finding::new(text).about(feature).at(message.frame, message.pointer("/method")));
        }
    }
    Ok(findings)
}
