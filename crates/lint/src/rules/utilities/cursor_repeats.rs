//! `cursor-repeats`: no page names a cursor that an earlier page named.

use super::pages;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "cursor-repeats",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no page names a cursor that an earlier page named",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Pagination Flow"),
    why: "A client that follows the cursors goes round in a circle until it runs out of memory or patience.",
    fix: "Make the cursor from the position behind the last item of the page, and leave it out on the last page.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        let mut seen = BTreeSet::new();
        for page in pages {
            let cursor = page.result().and_then(|result| result.get("nextCursor")).and_then(Value::as_str);
            if let Some(cursor) = cursor && !seen.insert(cursor) {
                let message = format!("the cursor `{cursor}` is named twice");
                findings.push(page.finding(message, "/result/nextCursor").about(list.method()));
                break;
            }
        }
    }
    Ok(findings)
}
