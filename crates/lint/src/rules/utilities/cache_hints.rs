//! `cache-hints`: results that may be cached say for how long and for whom.

use super::cacheable;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "cache-hints",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    summary: "results that may be cached say for how long and for whom",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Caching hints"),
    why: "Without `ttlMs` and `cacheScope` a client asks for the same list before every step, or shows one user what belongs to another.",
    fix: "Add `ttlMs` (0 or more) and `cacheScope` (`public` or `private`) to the results of discover, of all lists and of reads.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (method, asked, result) in cacheable(case)? {
        let ttl = result.get("ttlMs");
        if !ttl.is_some_and(|ttl| ttl.as_f64().is_some_and(|ttl| ttl >= 0.0)) {
            let seen = ttl.map_or("is missing".to_owned(), |ttl| format!("is {ttl}"));
            let pointer = if ttl.is_some() { "/result/ttlMs" } else { "/result" };
            findings.push(asked.finding(format!("`ttlMs` {seen}"), pointer).about(method));
        }
        let scope = result.get("cacheScope");
        if !scope.is_some_and(|scope| scope == "public" || scope == "private") {
            let seen = scope.map_or("is missing".to_owned(), |scope| format!("is {scope}"));
            let pointer = if scope.is_some() { "/result/cacheScope" } else { "/result" };
            findings.push(asked.finding(format!("`cacheScope` {seen}"), pointer).about(method));
        }
    }
    Ok(findings)
}
