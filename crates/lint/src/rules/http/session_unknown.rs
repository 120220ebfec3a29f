//! `session-unknown`: a session id the server never gave out is refused with 404.

use super::sessions;
use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{SESSIONS, SESSION_UNKNOWN_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-unknown",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a session id the server never gave out is refused with 404",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "After a restart of the server, clients begin a new session only if they are told with 404 that theirs is gone.",
    fix: "Look the session id up, and answer HTTP 404 when it is not known.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let asked = case.first(&SESSIONS, SESSION_UNKNOWN_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    Ok(match http.status {
        404 => Vec::new(),
        200..300 => vec![asked.finding("a request with a made-up session id was served", "").level(Level::Error)],
        status => {
            let message = format!("a made-up session id is refused with HTTP {status} instead of 404, so clients do not begin anew");
            vec![asked.finding(message, "").level(Level::Info)]
        }
    })
}
