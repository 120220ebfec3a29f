//! `log-message-shape`: a log message has one of the eight levels, and data.

use super::{LEVELS, notifications};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "log-message-shape",
    group: Group::Utilities,
    level: Level::Error,
    summary: "a log message has one of the eight levels, and data",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Log Levels"),
    why: "A client sorts and filters by level; a message with another one is dropped or breaks the reader.",
    fix: "Send `level` as one of debug, info, notice, warning, error, critical, alert, emergency, and always `data`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = notifications(case, "notifications/message");
    if messages.is_empty() {
        return Err(Skip::not_verified("no log message came"));
    }
    let mut findings = Vec::new();
    for message in messages {
        let params = &message.value["params"];
        if !params["level"].as_str().is_some_and(|level| LEVELS.contains(&level)) {
            let text = format!("the level of a log message is {}", params["level"]);
            findings.push(Finding::new(text).at(message.frame, message.pointer("/params/level")));
        }
        if params.get("data").is_none() {
            findings.push(
                Finding::new("a log message has no `data`").at(message.frame, message.pointer("/params")),
            );
        }
        if !findings.is_empty() {
            break;
        }
    }
    Ok(findings)
}
