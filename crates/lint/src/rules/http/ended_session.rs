//! `ended-session`: an ended session is refused.

use crate::{
    probes::{ENDED_SESSION_STEP, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "ended-session",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a request for a session that was ended is refused with 404",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "An attacker with an old session id can act as its user.",
    fix: "Forget a session at DELETE, and answer 404 from then on.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let Ok(asked) = case.first(&SESSIONS, ENDED_SESSION_STEP) else {
        return Err(Skip::not_applicable("the server has no sessions, or does not end them"));
    };
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() {
        return Ok(vec![asked.finding("a request was served in a session that had been ended", "")]);
    }
    Ok(Vec::new())
}
