//! `list-changed-undeclared`: list changes are announced only where `listChanged` is declared.

use super::notifications;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "list-changed-undeclared",
    group: Group::Utilities,
    level: Level::Error,
    summary: "list changes are announced only where `listChanged` is declared",
    clause: Clause::of("2025-11-25", "server/tools", "Capabilities"),
    why: "Without the declaration clients do not listen, and keep the old list although the server announced a new one.",
    fix: "Declare `listChanged: true` for the feature, or do not send the notification.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
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
