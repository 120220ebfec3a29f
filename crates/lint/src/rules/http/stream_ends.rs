//! `stream-ends`: the event stream of a request ends with its response.

use crate::{
    probes::{HTTP_HEADERS, STREAM_END_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "stream-ends",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the event stream of a request ends with its response",
    clause: Clause::of("2025-11-25", "basic/transports", "Sending Messages to the Server"),
    why: "Every call leaves a connection open, until client or proxy have no more of them.",
    fix: "Close the stream after the response was sent.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_HEADERS, STREAM_END_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.media().as_deref() != Some("text/event-stream") {
        return Err(Skip::not_applicable("the server answers with JSON, not with a stream"));
    }
    if asked.answer().is_none() {
        return Err(Skip::not_verified(asked.describe()));
    }
    if http.ended {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding("the stream was still open 1.5 s after the response", "")])
}
