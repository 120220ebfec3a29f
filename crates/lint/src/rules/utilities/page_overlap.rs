//! `page-overlap`: no item is on two pages of a list.

use super::pages;
use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "page-overlap",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no item is on two pages of a list",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Pagination Model"),
    why: "The client shows the item twice or takes the server for broken, and often another item is missing in its place.",
    fix: "Sort the list by something stable, and let the next page begin behind the last item of this one.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (list, pages) in pages(case)? {
        let member = if list == List::Resources { "uri" } else if list == List::Templates { "uriTemplate" } else { "name" };
        let mut seen = BTreeSet::new();
        'pages: for page in pages {
            let items = page.result().and_then(|result| result.get(list.member())).and_then(Value::as_array);
            let names: Vec<&str> = items.into_iter().flatten().filter_map(|item| item.get(member)?.as_str()).collect();
            for (index, name) in names.iter().enumerate() {
                if seen.contains(name) {
                    let message = format!("it is on two pages of `{}`", list.method());
                    let pointer = format!("/result/{}/{index}", list.member());
                    findings.push(page.finding(message, &pointer).about(*name));
                    break 'pages;
                }
            }
            seen.extend(names);
        }
    }
    Ok(findings)
}
