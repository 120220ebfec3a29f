//! `get-answer`: GET is answered with a stream or 405.

use crate::{
    probes::{GET_STEP, HTTP_EDGES},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "get-answer",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "GET opens a stream (legacy) or is refused with 405",
    clause: Clause::of("2025-11-25", "basic/transports", "Listening for Messages from the Server"),
    why: "Clients try GET to listen; any other answer makes them retry for ever or give up on the server.",
    fix: "Answer 405 where there is no stream; 2026-07-28 has none.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_EDGES, GET_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    let stream = http.is_success() && http.media().as_deref() == Some("text/event-stream");
    if http.status == 405 || (stream && case.era() == trunkline_protocol::Era::Legacy) {
        return Ok(Vec::new());
    }
    // A server of both eras cannot tell to which era a GET belongs.
    let both = case.evidence().served.len() > 1;
    let level = match case.era() {
        _ if both || (400..500).contains(&http.status) => Level::Info,
        trunkline_protocol::Era::Legacy => Level::Error,
        // The modern specification only recommends it.
        trunkline_protocol::Era::Modern => Level::Warning,
    };
    let message =
        format!("GET should open a stream or be refused with 405, but the answer is HTTP {}", http.status);
    Ok(vec![asked.finding(message, "").level(level)])
}
