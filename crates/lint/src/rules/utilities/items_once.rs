//! `items-once`: an item is on one page only.

use crate::{probes::LISTS, rules::prelude::*};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "items-once",
    group: Group::Utilities,
    level: Level::Error,
    summary: "no item stands on two pages of a list",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Implementation Guidelines"),
    why: "Clients see the same tool twice, and providers refuse a list with duplicates.",
    fix: "Make pages that follow each other without overlap.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for list in List::ALL {
        let Ok(items) = case.list(list) else { continue };
        seen = true;
        let key = match list {
            List::Resources => "uri",
            List::Templates => "uriTemplate",
            List::Tools | List::Prompts => "name",
        };
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for item in &items {
            let Some(name) = item.text(key) else { continue };
            let page = *first.entry(name).or_insert(item.frame.frame);
            if page != item.frame.frame && findings.is_empty() {
                findings.push(item.finding(format!("`{name}` stands on two pages"), &format!("/{key}")));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&LISTS)) }
}
