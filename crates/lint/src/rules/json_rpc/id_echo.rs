//! `id-echo`: a response carries the id of its request, unchanged.

use crate::{
    evidence::HttpHead,
    probes::{LISTS, REQUEST_IDS, REQUEST_IDS_STEP},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "id-echo",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a response has the id of its request, with the same value and the same JSON type",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "Clients match answers to calls by id. An answer with a changed id matches no call, and the call times out.",
    fix: "Keep the id as the JSON value it was and send it back as it is, whether string or integer.",
    needs: &[&REQUEST_IDS, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut silent = Vec::new();
    let tried: Vec<_> = case.asked(REQUEST_IDS_STEP).collect();
    if tried.is_empty() && elsewhere(case).is_none() {
        return Err(case.missing(&REQUEST_IDS));
    }
    for asked in tried {
        let Some(answer) = asked.answer() else {
            silent.push(asked.variant());
            continue;
        };
        let got = answer.get("id").unwrap_or(&Value::Null);
        let sent = asked.sent().and_then(|sent| sent.json()?.get("id"));
        if Some(got) != sent {
            let message = format!("the request had the id {}, its response has {got}", asked.variant());
            findings.push(asked.finding(message, "/id").about(format!("id {}", asked.variant())));
        }
    }
    if findings.is_empty() {
        findings.extend(elsewhere(case));
    }
    if findings.is_empty() && !silent.is_empty() {
        return Err(Skip::not_verified(format!("no answer came for the ids {}", silent.join(", "))));
    }
    Ok(findings)
}

/// A finding for the first other request whose id came back changed.
fn elsewhere(case: &Case<'_>) -> Option<Finding> {
    let all = case.lines().flat_map(|(index, line)| {
        line.exchanges.iter().map(move |exchange| Asked::new(case.evidence(), index, exchange))
    });
    // Over HTTP a refusal may happen before the message is parsed.
    let read = |asked: &Asked<'_>| asked.http().is_none_or(HttpHead::is_success);
    all.filter(read).find_map(|asked| {
        let sent = asked.sent()?.json()?;
        let id = sent.get("id").filter(|id| id.is_string() || id.is_number())?;
        let whole = sent["jsonrpc"] == "2.0" && sent["method"].is_string();
        let got = asked.answer()?.get("id").unwrap_or(&Value::Null);
        let method = sent["method"].as_str().unwrap_or_default();
        (whole && got != id && !asked.answer()?.is_array()).then(|| {
            asked
                .finding(format!("the request `{method}` had the id {id}, its response has {got}"), "/id")
                .about("id")
        })
    })
}
