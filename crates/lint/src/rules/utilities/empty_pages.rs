//! `empty-pages`: no page but the last is empty.

use super::pages;
use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "empty-pages",
    group: Group::Utilities,
    level: Level::Info,
    summary: "no page but the last is empty",
    clause: Clause::practice("practice", "pagination"),
    why: "Clients ask again and again for nothing; some take an empty page for the end.",
    fix: "Fill a page before naming a cursor, or leave the cursor out.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        let empty = pages.into_iter().find(|page| {
            page.result().is_some_and(|result| {
                result.get("nextCursor").is_some_and(Value::is_string)
                    && result.get(list.member()).and_then(Value::as_array).is_some_and(Vec::is_empty)
            })
        });
        findings.extend(empty.map(|page| {
            let message = "a page is empty and names a next one";
            page.finding(message, "/result/nextCursor").about(list.method())
        }));
    }
    Ok(findings)
}
