//! `delete-one-session`: DELETE ends one session only.

use super::sessions;
use crate::{
    probes::{OTHER_SESSION_STEP, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "delete-one-session",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "DELETE ends the session that it names, and no other",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "When one client leaves, all others lose their sessions and whatever they were doing.",
    fix: "Look up the session of the `Mcp-Session-Id` header and close that one.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let Some(other) = case.asked(OTHER_SESSION_STEP).next() else {
        case.asked(crate::probes::SESSION_DELETE_STEP).next().ok_or_else(|| case.missing(&SESSIONS))?;
        return Err(Skip::not_applicable("the server does not end sessions on DELETE"));
    };
    if other.lives() {
        return Ok(Vec::new());
    }
    let message = format!("after the DELETE of one session, another one is not served: {}", other.describe());
    Ok(vec![other.finding(message, "")])
}
