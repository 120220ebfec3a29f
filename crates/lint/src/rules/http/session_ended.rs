//! `session-ended`: a session that was ended with DELETE is answered with 404.

use super::sessions;
use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{SESSIONS, SESSION_DELETE_STEP, SESSION_ENDED_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-ended",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a session that was ended with DELETE is answered with 404",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "A session that lives on after its end keeps memory and rights, and a stolen id stays useful.",
    fix: "Forget the session on DELETE, and answer HTTP 404 to its id from then on.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let delete = case.first(&SESSIONS, SESSION_DELETE_STEP)?;
    let Some(asked) = case.asked(SESSION_ENDED_STEP).next() else {
        let why = format!("the server does not let clients end sessions: {}", delete.describe());
        return Err(Skip::not_applicable(why));
    };
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    Ok(match http.status {
        404 => Vec::new(),
        200..300 => vec![asked.finding("the session was served after its end", "")],
        status => {
            let message = format!("an ended session is answered with HTTP {status} instead of 404");
            vec![asked.finding(message, "").level(Level::Warning)]
        }
    })
}
