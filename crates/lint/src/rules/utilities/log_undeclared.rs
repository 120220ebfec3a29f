//! `log-undeclared`: log messages come only from servers that declare `logging`.

use super::notifications;
use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "log-undeclared",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "log messages come only from servers that declare `logging`",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Capabilities"),
    why: "A client that was not told of logging has no place for the messages, and some end the connection.",
    fix: "Declare the capability `logging`, or write logs to stderr.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if case.capability("logging").is_some() {
        return Ok(Vec::new());
    }
    let first = notifications(case, "notifications/message").into_iter().next();
    Ok(first
        .map(|message| Finding::new("a log message came, and `logging` is not declared").at(message.frame, message.pointer("/method")))
        .into_iter()
        .collect())
}
