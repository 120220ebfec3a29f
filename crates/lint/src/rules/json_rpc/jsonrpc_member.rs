//! `jsonrpc-member`: every message says that it is JSON-RPC 2.0.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "jsonrpc-member",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "every message has `\"jsonrpc\": \"2.0\"`",
    clause: Clause::of("2026-07-28", "basic", "Messages"),
    why: "Clients refuse messages without it.",
    fix: "Write `\"jsonrpc\": \"2.0\"` into every request, response and notification.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let wrong: Vec<_> =
        messages.iter().filter(|message| message.value.get("jsonrpc").is_none_or(|it| it != "2.0")).collect();
    let Some(first) = wrong.first() else { return Ok(Vec::new()) };
    let text = match first.value.get("jsonrpc") {
        None => format!("{} of {} messages lack `jsonrpc`", wrong.len(), messages.len()),
        Some(value) => format!("{} of {} messages have `jsonrpc` {value}", wrong.len(), messages.len()),
    };
    Ok(vec![Finding::new(text).at(first.frame, first.pointer("/jsonrpc"))])
}
