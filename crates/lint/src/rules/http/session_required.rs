//! `session-required`: a request without the session id is refused with 400 where the server has
//! sessions.

use super::sessions;
use crate::{
    probes::{SESSION_MISSING_STEP, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "session-required",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a request without the session id is refused with 400 where the server has sessions",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "A client that lost its session goes on without the state it relies on, and gets no error.",
    fix: "Answer requests other than `initialize` that lack `Mcp-Session-Id` with HTTP 400.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let asked = case.first(&SESSIONS, SESSION_MISSING_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    Ok(match http.status {
        400 => Vec::new(),
        200..300 => vec![asked.finding("a request without the session id was served", "")],
        status => {
            let message =
                format!("a request without the session id is refused with HTTP {status} instead of 400");
            vec![asked.finding(message, "").level(Level::Info)]
        }
    })
}
