//! `unknown-method-code`: an unknown method is refused with -32601.

use crate::{
    probes::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-method-code",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a request for an unknown method is refused with -32601",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "Clients find out what a server can do by this code; another code looks like a broken server, silence like a hanging one.",
    fix: "Answer every request whose method is not implemented with the error -32601 (Method not found).",
    needs: &[&UNKNOWN_METHOD],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_METHOD, UNKNOWN_METHOD_STEP)?;
    if asked.error_code() == Some(-32601) {
        return Ok(Vec::new());
    }
    let message = format!("an unknown method should be refused with -32601, but {}", asked.describe());
    Ok(vec![asked.finding(message, if asked.error().is_some() { "/error/code" } else { "" })])
}
