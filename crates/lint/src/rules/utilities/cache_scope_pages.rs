//! `cache-scope-pages`: all pages have one scope.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "cache-scope-pages",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "all pages of a list have the same `cacheScope`",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Interaction with Pagination"),
    why: "A cache that shares one page and not the next mixes pages of different lists.",
    fix: "Use one scope for the whole list.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut several) = (Vec::new(), false);
    for list in List::ALL {
        let pages: Vec<_> = case.asked(list.step()).filter(|page| page.result().is_some()).collect();
        several |= pages.len() > 1;
        let scope = |page: &Asked<'_>| {
            page.result().and_then(|result| result.get("cacheScope")?.as_str()).map(str::to_owned)
        };
        let Some(first) = pages.first() else { continue };
        if let Some(other) = pages.iter().find(|page| scope(page) != scope(first)) {
            let message =
                format!("the scope is {} on the first page and another one here", Value::from(scope(first)));
            findings.push(
                other
                    .finding(message, "/result/cacheScope")
                    .about(list.method())
                    .with_frames(first.answer_ref()),
            );
        }
    }
    if several { Ok(findings) } else { Err(Skip::not_applicable("every list has one page")) }
}
