//! `cursor-type`: `nextCursor` is a string where present.

use super::pages;
use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "cursor-type",
    group: Group::Utilities,
    level: Level::Error,
    summary: "`nextCursor` is a string where it is there",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Response Format"),
    why: "A client takes anything but a string for the end of the list or for an error; either way items are missing.",
    fix: "Write the cursor as a string, and leave the member out where there is no next page.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        for page in pages {
            let cursor = page.result().and_then(|result| result.get("nextCursor"));
            if let Some(cursor) = cursor.filter(|cursor| !cursor.is_string()) {
                let message = format!("`nextCursor` is {cursor}, not a string");
                let finding = page.finding(message, "/result/nextCursor").about(list.method());
                // Many servers send `null` on the last page, and clients accept it.
                findings.push(if cursor.is_null() { finding.level(Level::Warning) } else { finding });
            }
        }
    }
    Ok(findings)
}
