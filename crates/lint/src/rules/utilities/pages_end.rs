//! `pages-end`: lists come to an end.

use crate::{
    probes::{LISTS, MAX_PAGES},
    rules::prelude::*,
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "pages-end",
    group: Group::Utilities,
    level: Level::Error,
    summary: "walking a list by its cursors ends, and no cursor comes twice",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Implementation Guidelines"),
    why: "A client that follows the cursors never finishes, and fills its memory with the same items.",
    fix: "Leave `nextCursor` out on the last page, and give each page a cursor of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for list in List::ALL {
        let mut cursors = BTreeSet::new();
        let mut pages = 0;
        for page in case.asked(list.step()) {
            seen = true;
            pages += 1;
            let Some(cursor) = page.result().and_then(|result| result.get("nextCursor")) else { continue };
            if !cursor.is_string() {
                findings.push(
                    page.finding("`nextCursor` is not a string", "/result/nextCursor").about(list.method()),
                );
                break;
            }
            if !cursors.insert(cursor.to_string()) {
                let message = "the same `nextCursor` came twice, so that the list never ends";
                findings.push(page.finding(message, "/result/nextCursor").about(list.method()));
                break;
            }
            if pages == MAX_PAGES {
                let message = format!("after {MAX_PAGES} pages there is still another one");
                findings.push(page.finding(message, "/result/nextCursor").about(list.method()));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&LISTS)) }
}
