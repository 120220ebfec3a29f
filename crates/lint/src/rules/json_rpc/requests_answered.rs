//! `requests-answered`: every request gets an answer.

use crate::{
    evidence::Settled,
    probes::{BAD_CURSOR, LISTS, UNKNOWN_METHOD, UNKNOWN_TOOL, UNKNOWN_TOOL_STEP},
    rules::prelude::*,
};
use trunkline_client::Carrier;

pub(super) static RULE: Rule = Rule {
    name: "requests-answered",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "every request is answered, with a result or an error",
    clause: Clause::of("2026-07-28", "basic", "Message Patterns"),
    why: "A request without an answer blocks its caller until a timeout, and agents wait for nothing.",
    fix: "Answer every message that has an id, also when it makes no sense: with an error.",
    needs: &[&UNKNOWN_METHOD, &LISTS, &UNKNOWN_TOOL, &BAD_CURSOR],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen = false;
    for (index, line) in case.lines() {
        // A sequential server answers nothing while a tool runs.
        let mut busy = false;
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            // A server that cannot parse a message cannot know that it needs an answer.
            let request = asked.sent().and_then(|sent| sent.json()).is_some_and(|message| {
                message["jsonrpc"] == "2.0"
                    && message["method"].is_string()
                    && message.get("id").is_some_and(|id| !id.is_null())
            });
            seen |= request;
            let method =
                asked.sent().and_then(|sent| sent.json()?.get("method")?.as_str()).unwrap_or_default();
            let silent = matches!(asked.settled(), Settled::Silent(_));
            // The duration of a tool call is not judged here; `call-time` reports it.
            busy |= silent && method == "tools/call" && exchange.step != UNKNOWN_TOOL_STEP;
            // Over HTTP, a request may be acknowledged like a notification.
            let acknowledged = case.carrier() == Carrier::StreamableHttp
                && asked.answer().is_none()
                && asked.http().is_some_and(|http| http.is_success() && http.ended && http.body.is_empty());
            let missing = silent && !busy && !line.answered_late(exchange);
            if request && (missing || acknowledged) {
                let got = match asked.http().filter(|_| acknowledged) {
                    Some(http) => format!("HTTP {} without a body", http.status),
                    None => asked.settled().to_string(),
                };
                let message = format!("the request `{method}` got {got}");
                if findings.iter().all(|known| known.about.as_deref() != Some(method)) {
                    findings.push(asked.finding(message, "").about(method));
                }
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no request was sent")) }
}
