//! `get-stream`: GET opens an event stream or is refused with 405.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{GET_STEP, HTTP_VERBS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "get-stream",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "GET opens an event stream or is refused with 405",
    clause: Clause::of("2025-11-25", "basic/transports", "Listening for Messages from the Server"),
    why: "Clients open the stream after the handshake; any other answer looks like a broken server, and some give up.",
    fix: "Answer GET with `Content-Type: text/event-stream`, or with HTTP 405 if there is nothing to stream.",
    needs: &[&HTTP_VERBS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_VERBS, GET_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    let stream = http.media().as_deref() == Some("text/event-stream");
    Ok(match http.status {
        405 => Vec::new(),
        200 if stream => Vec::new(),
        200..300 => {
            let media = http.header("content-type").unwrap_or("no content type");
            vec![asked.finding(format!("GET is answered with HTTP {} and {media}, not with a stream", http.status), "")]
        }
        status => vec![asked.finding(format!("GET is refused with HTTP {status} instead of 405"), "").level(Level::Warning)],
    })
}
