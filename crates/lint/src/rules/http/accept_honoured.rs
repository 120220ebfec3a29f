//! `accept-honoured`: a client that accepts only JSON gets no event stream.

use crate::{
    probes::{ACCEPT_STEP, HTTP_HEADERS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "accept-honoured",
    group: Group::Http,
    level: Level::Info,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "a client that accepts only JSON gets no event stream",
    clause: Clause::practice("RFC 9110", "12.5.1 Accept"),
    why: "A simple client that cannot read streams gets an answer it does not understand instead of a refusal it does.",
    fix: "Answer with JSON, or with HTTP 406, when `Accept` lacks `text/event-stream`.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_HEADERS, ACCEPT_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() && http.media().as_deref() == Some("text/event-stream") {
        let message = "a request with `Accept: application/json` is answered with an event stream";
        return Ok(vec![asked.finding(message, "")]);
    }
    Ok(Vec::new())
}
