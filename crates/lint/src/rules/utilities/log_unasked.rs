//! `log-unasked`: log messages are sent only for requests that ask for them.

use super::notifications;
use crate::{
    evidence::Direction,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "log-unasked",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "log messages come only for requests that ask for them",
    clause: Clause::of("2026-07-28", "server/utilities/logging", "Per-request log level"),
    why: "Nobody asked for the messages; on a shared line they cost every client time, and may tell one what another does.",
    fix: "Send log messages only while serving a request that has `io.modelcontextprotocol/logLevel` in `_meta`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.lines().flat_map(|(_, line)| &line.frames).any(|frame| {
        let json = frame.json().filter(|_| frame.direction == Direction::Sent);
        json.is_some_and(|message| {
            message["params"]["_meta"].get("io.modelcontextprotocol/logLevel").is_some()
        })
    });
    if asked {
        return Err(Skip::not_verified("log messages were asked for in this run"));
    }
    let first = notifications(case, "notifications/message").into_iter().next();
    Ok(first
        .map(|message| {
            Finding::new("a log message came, and no request asked for any")
                .at(message.frame, message.pointer("/method"))
        })
        .into_iter()
        .collect())
}
