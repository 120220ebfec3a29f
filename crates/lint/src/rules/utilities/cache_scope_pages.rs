//! `cache-scope-pages`: all pages of a list have the same `cacheScope`.

use super::pages;
use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "cache-scope-pages",
    group: Group::Utilities,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    summary: "all pages of a list have the same `cacheScope`",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Pagination"),
    why: "A shared cache holds one page of a list and not the other, and puts together a list that nobody was given.",
    fix: "Decide the scope per list, not per page.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        let scope = |page: &Asked<'_>| page.result().and_then(|result| result.get("cacheScope")).cloned();
        let first = pages.first().and_then(scope);
        if let Some(other) = pages.iter().find(|page| page.result().is_some() && scope(page) != first) {
            let message = "its pages differ in `cacheScope`";
            findings.push(other.finding(message, "/result/cacheScope").about(list.method()));
        }
    }
    Ok(findings)
}
