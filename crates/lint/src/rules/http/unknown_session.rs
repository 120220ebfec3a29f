//! `unknown-session`: unknown sessions are refused.

use crate::{
    probes::{BOGUS_SESSION_STEP, HTTP_EDGES},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-session",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a request for a session that does not exist is refused with 404",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "Clients begin a new session only at 404; anything else leaves them in a session that is gone.",
    fix: "Answer 404 when the `Mcp-Session-Id` is not that of a living session.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let Ok(asked) = case.first(&HTTP_EDGES, BOGUS_SESSION_STEP) else {
        return Err(Skip::not_applicable("the server begins no sessions"));
    };
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.status == 404 {
        return Ok(Vec::new());
    }
    let level = if http.is_success() { Level::Error } else { Level::Info };
    let message =
        format!("a request for an unknown session should get 404, but the answer is HTTP {}", http.status);
    Ok(vec![asked.finding(message, "").level(level)])
}
