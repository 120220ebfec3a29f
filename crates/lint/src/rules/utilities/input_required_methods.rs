//! `input-required-methods`: only `tools/call`, `prompts/get` and `resources/read` are answered
//! with `input_required`.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "input-required-methods",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "only tool calls, prompts and reads ask for input",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", "Supported Requests"),
    why: "A client that only wanted a list cannot answer questions, and shows an error.",
    fix: "Answer `input_required` to `tools/call`, `prompts/get` and `resources/read` only.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (index, line) in case.lines() {
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            let method =
                asked.sent().and_then(|sent| sent.json()?.get("method")?.as_str()).unwrap_or_default();
            let waits = asked.result().is_some_and(|result| result["resultType"] == "input_required");
            if waits
                && !matches!(method, "tools/call" | "prompts/get" | "resources/read")
                && findings.is_empty()
            {
                findings.push(asked.finding("it asks for input", "/result/resultType").about(method));
            }
        }
    }
    Ok(findings)
}
