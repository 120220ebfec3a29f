//! `result-type`: a modern result has a `resultType`.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "result-type",
    group: Group::JsonRpc,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "every result has a known `resultType`",
    clause: Clause::of("2026-07-28", "basic", "ResultType"),
    why: "Clients must treat a result of an unknown type as invalid, so that a call which worked counts as failed.",
    fix: "Put `\"resultType\": \"complete\"` into results, `\"input_required\"` where the server needs answers first.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const KNOWN: [&str; 3] = ["complete", "input_required", "task"];

fn check(case: &Case<'_>) -> Verdict {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (index, line) in case.lines() {
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            // A bare request may be served as one of the legacy era, whose results have no type.
            let modern = asked.sent().and_then(|sent| sent.json()?.pointer(META)).is_some();
            let Some(Value::Object(result)) = asked.result().filter(|_| modern) else { continue };
            seen += 1;
            match result.get("resultType").map(Value::as_str) {
                Some(Some(kind)) if KNOWN.contains(&kind) => {}
                Some(_) => wrong.push(("has an unknown `resultType`", asked)),
                None => wrong.push(("has no `resultType`", asked)),
            }
        }
    }
    if seen == 0 {
        return Err(Skip::not_verified("the server sent no result"));
    }
    let Some((text, first)) = wrong.first() else { return Ok(Vec::new()) };
    let message = format!("{} of {seen} results: the first {text}", wrong.len());
    Ok(vec![first.finding(message, "/result/resultType")])
}

const META: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
