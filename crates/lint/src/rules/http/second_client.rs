//! `second-client`: two clients are served side by side.

use crate::{
    evidence::Settled,
    probes::{FIRST_CLIENT_STEP, INTRODUCED_AGAIN, SECOND_CLIENT_STEP, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "second-client",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a second client can connect, and the first is still served",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "A server with one transport for everybody works until a second window or a reconnect comes; then one of the two hangs or is refused.",
    fix: "Create a transport and a server object per session, or none that keeps state.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if let Some(refused) = case.asked(INTRODUCED_AGAIN).find(is_refused) {
        let message = format!("a second client cannot connect: {}", refused.describe());
        return Ok(vec![refused.finding(message, "")]);
    }
    let first = case.first(&SESSIONS, FIRST_CLIENT_STEP)?;
    let second = case.first(&SESSIONS, SECOND_CLIENT_STEP)?;
    if !first.lives() && second.lives() {
        let message = format!("once a second client is there, the first is not served: {}", first.describe());
        return Ok(vec![Finding::new(message).with_frames(first.frames()).with_frames(second.frames())]);
    }
    Ok(Vec::new())
}

/// True for a refusal of the handshake itself; a token or a pause may be asked for.
fn is_refused(asked: &Asked<'_>) -> bool {
    let status = asked.http().map_or(0, |http| http.status);
    let refused = asked.error().is_some() || (400..500).contains(&status);
    refused && !matches!(status, 401 | 403 | 429) && !matches!(asked.settled(), Settled::Silent(_))
}
