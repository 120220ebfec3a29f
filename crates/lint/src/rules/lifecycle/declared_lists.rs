//! `declared-lists`: declared features can be listed.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "declared-lists",
    group: Group::Lifecycle,
    level: Level::Error,
    summary: "every declared feature can be listed",
    clause: Clause::of("2026-07-28", "server/tools", "Capabilities"),
    why: "Clients ask for the lists of declared features right after connecting; many give up when one fails.",
    fix: "Implement the list method of every declared capability (an empty list is fine), or do not declare it.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for list in List::ALL {
        if case.capability(list.capability()).is_none() {
            continue;
        }
        let pages = case.all(&LISTS, list.step())?;
        for page in pages {
            let usable = page
                .result()
                .and_then(|result| result.get(list.member()))
                .is_some_and(serde_json::Value::is_array);
            // Templates are an optional part of `resources`.
            let optional = list == List::Templates && page.error_code() == Some(-32601);
            if !usable && !optional {
                let what = match page.result() {
                    Some(_) => format!("its result has no array `{}`", list.member()),
                    None => page.describe(),
                };
                let message =
                    format!("`{}` is declared, but `{}` fails: {what}", list.capability(), list.method());
                findings.push(page.finding(message, "").about(list.method()));
                break;
            }
        }
    }
    Ok(findings)
}
