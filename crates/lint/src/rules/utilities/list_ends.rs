//! `list-ends`: a list comes to an end.

use super::pages;
use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Verdict},
    probes::{LISTS, MAX_PAGES},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "list-ends",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a list comes to an end",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Pagination Flow"),
    why: "A client that wants the whole list never gets it, and nothing else is done in the meantime.",
    fix: "Leave `nextCursor` out of the last page.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        let endless = |page: &&Asked<'_>| page.result().is_some_and(|result| result.get("nextCursor").is_some_and(Value::is_string));
        if pages.len() >= MAX_PAGES && let Some(last) = pages.last().filter(endless) {
            let message = format!("there are more than {MAX_PAGES} pages");
            findings.push(last.finding(message, "/result/nextCursor").about(list.method()));
        }
    }
    Ok(findings)
}
