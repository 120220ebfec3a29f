//! `cache-hints`: cacheable results say how long they are valid.

use crate::{
    probes::{DISCOVER, INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "cache-hints",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "cacheable results have `ttlMs` of at least 0 and a `cacheScope`",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Cacheable Results"),
    why: "Clients that rely on the hints ask again every time, or keep what belongs to another user.",
    fix: "Put `ttlMs` (a number, 0 or more) and `cacheScope` (`public` or `private`) into the results of discover, lists and reads.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let lists = List::ALL.into_iter().flat_map(|list| case.asked(list.step()));
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.asked(DISCOVER).chain(lists) {
        let Some(result) = asked.result() else { continue };
        seen = true;
        let method = asked.sent().and_then(|sent| sent.json()?.get("method")?.as_str()).unwrap_or_default();
        let ttl = result.get("ttlMs").and_then(Value::as_f64);
        let scope = result.get("cacheScope").and_then(Value::as_str);
        if ttl.is_none_or(|ttl| ttl < 0.0) {
            findings
                .push(asked.finding("the result has no `ttlMs` of 0 or more", "/result/ttlMs").about(method));
        }
        if !matches!(scope, Some("public" | "private")) {
            let message = "the result has no `cacheScope` of public or private";
            findings.push(asked.finding(message, "/result/cacheScope").about(method));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("there is no cacheable result")) }
}
