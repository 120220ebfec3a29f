//! `undeclared-logs`: logs are declared and asked for.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "undeclared-logs",
    group: Group::Utilities,
    level: Level::Error,
    summary: "log messages come only from a server that declares `logging`",
    clause: Clause::of("2026-07-28", "server/utilities/logging", "Capabilities"),
    why: "Clients that did not ask for logs treat them as unexpected messages, or show them to users who do not want them.",
    fix: "Declare `logging`, honour the level that was asked for, and write everything else to standard error.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let log = messages.iter().find(|message| message.method() == Some("notifications/message"));
    let Some(log) = log else { return Ok(Vec::new()) };
    if case.capability("logging").is_some() {
        return Ok(Vec::new());
    }
    let text = "a log message came, but `logging` is not declared";
    Ok(vec![Finding::new(text).at(log.frame, log.pointer("/method"))])
}
