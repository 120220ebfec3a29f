//! `invalid-envelope`: an invalid request is not served.

use crate::{
    evidence::Message,
    probes::{ENVELOPES, ENVELOPES_AFTER, ENVELOPES_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "invalid-envelope",
    group: Group::JsonRpc,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "a message that is no JSON-RPC request is refused with -32600",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "A server that takes anything for a request hides mistakes of clients, which then fail with every other server.",
    fix: "Check `jsonrpc` and the type of `method` first, and answer -32600 with the id, where there is one.",
    needs: &[&ENVELOPES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let messages = case.messages();
    for asked in case.all(&ENVELOPES, ENVELOPES_STEP)? {
        let id = asked.sent().and_then(|sent| sent.json()?.get("id"));
        // The probe does not wait for these answers, so they may arrive during the next exchange.
        // No answer is fine, too: an unreadable message need not be answered. An error without an
        // id may belong to any unreadable message.
        let nameless = id.is_some_and(serde_json::Value::is_null);
        let belongs = |it: &&Message<'_>| {
            it.is_response() && it.value.get("id") == id && !(nameless && it.value.get("error").is_some())
        };
        let swallowed = asked.http().is_some_and(|http| http.status == 202);
        let Some(answer) = messages.iter().find(belongs) else {
            if swallowed {
                let message = format!("a message with {} is accepted with HTTP 202", asked.variant());
                findings.push(asked.finding(message, "").about(asked.variant()).level(Level::Info));
            }
            continue;
        };
        let code = answer.value.pointer("/error/code").and_then(serde_json::Value::as_i64);
        let (how, level) = match code {
            Some(-32600) => continue,
            // Over HTTP, status 400 is a valid refusal as well.
            Some(_) if asked.http().is_some_and(|http| http.status == 400) => continue,
            Some(code) => (format!("the error is {code}"), Level::Info),
            None => ("it is served".to_owned(), Level::Warning),
        };
        let message = format!("a message with {} should be refused with -32600, but {how}", asked.variant());
        let finding = asked.finding(message, "").at(answer.frame, answer.pointer(""));
        findings.push(finding.about(asked.variant()).level(level));
    }
    if let Some(after) = case.asked(ENVELOPES_AFTER).find(|after| !after.lives()) {
        let message = format!("after invalid messages a normal request fails: {}", after.describe());
        findings.push(after.finding(message, "").about("survival").level(Level::Error));
    } else if case.asked(ENVELOPES_AFTER).next().is_none() {
        return Err(case.missing(&ENVELOPES));
    }
    Ok(findings)
}
