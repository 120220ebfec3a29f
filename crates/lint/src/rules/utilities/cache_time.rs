//! `cache-time`: no result may be cached for longer than a day.

use super::cacheable;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "cache-time",
    group: Group::Utilities,
    level: Level::Info,
    eras: Eras::Modern,
    summary: "no result may be cached for longer than a day",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Time-to-Live (TTL) Field"),
    why: "Clients go on with tools that are long gone, and nothing tells them.",
    fix: "Choose a `ttlMs` of minutes, and send list_changed to those who listen.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// A day.
const LONGEST_MS: f64 = 86_400_000.0;

fn check(case: &Case<'_>) -> Verdict {
    let long =
        |result: &Value| result.get("ttlMs").and_then(Value::as_f64).is_some_and(|ttl| ttl > LONGEST_MS);
    let all = cacheable(case)?.into_iter().filter(|(_, _, result)| long(result));
    Ok(all
        .map(|(method, asked, result)| {
            asked
                .finding(
                    format!("the result may be kept for {} milliseconds", result["ttlMs"]),
                    "/result/ttlMs",
                )
                .about(method)
        })
        .collect())
}
