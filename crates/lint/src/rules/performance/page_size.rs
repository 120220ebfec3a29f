//! `page-size`: pages are neither tiny nor endless.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "page-size",
    group: Group::Performance,
    level: Level::Info,
    summary: "lists come in pages of useful size: no more than five pages of fewer than 10 entries, and no page of more than 500",
    clause: Clause::practice("client limits", "time"),
    why: "Each page costs a round trip at every start; a page of thousands costs memory and may be refused.",
    fix: "Send 50 to 200 entries a page.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Pages with fewer entries are not worth a round trip.
const FEW: usize = 10;
/// Number of short pages from which paging costs more time than it saves.
const PAGES: usize = 5;
const MANY: usize = 500;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for list in List::ALL {
        let count = |asked: &Asked<'_>| {
            asked.result().and_then(|it| it.get(list.member())).and_then(Value::as_array).map(Vec::len)
        };
        let pages: Vec<_> =
            case.asked(list.step()).filter_map(|asked| Some((asked, count(&asked)?))).collect();
        let Some((first, _)) = pages.first() else { continue };
        seen = true;
        let total: usize = pages.iter().map(|(_, count)| count).sum();
        let at = format!("/result/{}", list.member());
        if pages.len() > PAGES && total < FEW * pages.len() {
            let message = format!("{total} entries come over {} pages", pages.len());
            findings.push(first.finding(message, "/result/nextCursor").about(list.method()));
        }
        if let Some((page, count)) = pages.iter().find(|(_, count)| *count > MANY) {
            let message = format!("{count} entries come on one page");
            findings.push(page.finding(message, &at).about(list.method()));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("the server gave no list")) }
}
