//! `session-delete`: DELETE ends a session, or is refused with 405.

use super::sessions;
use crate::{
    probes::{SESSION_DELETE_STEP, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "session-delete",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "DELETE ends a session, or is refused with 405",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "Clients end their session when they leave; a server that answers with an error keeps all of them until it runs out of memory.",
    fix: "Answer DELETE with 200 or 204 and drop the session; or with 405 if clients may not end sessions.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let asked = case.first(&SESSIONS, SESSION_DELETE_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() || http.status == 405 {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding(format!("DELETE of a live session gives HTTP {}", http.status), "")])
}
