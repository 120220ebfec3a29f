//! `parse-error-code`: malformed JSON is answered with -32700.

use crate::{
    evidence::Settled,
    probes::{MALFORMED, MALFORMED_STEP},
    rules::prelude::*,
};
use serde_json::Value;
use trunkline_client::Carrier;

pub(super) static RULE: Rule = Rule {
    name: "parse-error-code",
    group: Group::JsonRpc,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "malformed JSON is refused with -32700 and no id, over HTTP with a status of 400",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "A wrong code, or an id that was guessed, is taken for the answer to somebody else's call.",
    fix: "Answer -32700 with `\"id\": null`, or not at all.",
    needs: &[&MALFORMED],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&MALFORMED, MALFORMED_STEP)?;
    let mut findings = Vec::new();
    let failed = asked.http().is_some_and(|http| http.status >= 500);
    let hangs = case.carrier() == Carrier::StreamableHttp && matches!(asked.settled(), Settled::Silent(_));
    if failed || hangs {
        let message =
            format!("a body that is no JSON should be refused with HTTP 400, but {}", asked.describe());
        findings.push(asked.finding(message, "").about("status"));
    }
    let Some(answer) = asked.answer() else { return Ok(findings) };
    if asked.error_code() != Some(-32700) {
        let message = format!("malformed JSON should be refused with -32700, but {}", asked.describe());
        findings.push(asked.finding(message, "/error/code").about("code"));
    }
    // A server may extract the id from a truncated message and use it.
    let own = |id: &Value| asked.sent().is_some_and(|sent| sent.text().contains(&format!("\"id\":{id}")));
    if answer.get("id").is_some_and(|id| !id.is_null() && !own(id)) {
        findings.push(asked.finding("the answer to malformed JSON has an id", "/id").about("id"));
    }
    Ok(findings)
}
