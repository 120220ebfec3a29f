//! `unknown-method-status`: an unknown method is answered with 404.

use crate::{
    probes::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-method-status",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "an unknown method is answered with HTTP 404 and a JSON-RPC error",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Protocol Version Header"),
    why: "Proxies and clients tell by the status that the method, and not the call, is wrong.",
    fix: "Answer 404 with the error -32601 in the body.",
    needs: &[&UNKNOWN_METHOD],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_METHOD, UNKNOWN_METHOD_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.status == 404 && asked.error().is_some() {
        return Ok(Vec::new());
    }
    let message = format!(
        "an unknown method should get HTTP 404 with a JSON-RPC error, but it got HTTP {}",
        http.status
    );
    Ok(vec![asked.finding(message, "")])
}
