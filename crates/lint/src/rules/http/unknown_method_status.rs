//! `unknown-method-status`: an unknown method is answered with HTTP 404 and a JSON-RPC error.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-method-status",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "an unknown method is answered with HTTP 404 and a JSON-RPC error",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Error responses"),
    why: "Clients and proxies tell an unknown method from a failed one by the status, without reading the body.",
    fix: "Answer the error -32601 with HTTP 404.",
    needs: &[&UNKNOWN_METHOD],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_METHOD, UNKNOWN_METHOD_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.status != 404 {
        let message = format!("an unknown method is answered with HTTP {} instead of 404", http.status);
        return Ok(vec![asked.finding(message, "")]);
    }
    if asked.error().is_none() {
        return Ok(vec![asked.finding("the 404 for an unknown method has no JSON-RPC error in it", "")]);
    }
    Ok(Vec::new())
}
