//! `undeclared-logs`: logs are declared and asked for.

use crate::{
    evidence::{Case},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "undeclared-logs",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "log messages come only from a server that declares `logging`, and in the modern era only when they were asked for",
    clause: Clause::of("2026-07-28", "server/utilities/logging", "Capabilities"),
    why: "Clients that did not ask for logs treat them as unexpected messages, or show them to users who do not want them.",
    fix: "Declare `logging`, honour the level that was asked for, and write everything else to standard error.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.messages();
    if messages.is_empty() {
        return Err(Skip::not_verified("the server sent no message"));
    }
    let log = messages.iter().find(|message| message.method() == Some("notifications/message"));
    let Some(log) = log else { return Ok(Vec::new()) };
    let text = match (case.era(), case.capability("logging")) {
        (_, None) => "a log message came, but `logging` is not declared",
        (Era::Modern, Some(_)) => "a log message came, but no request had asked for logs",
        (Era::Legacy, Some(_)) => return Ok(Vec::new()),
    };
    Ok(vec![Finding::new(text).at(log.frame, log.pointer("/method"))])
}
