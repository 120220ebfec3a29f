//! `title-form`: titles fit on one line.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "title-form",
    group: Group::Docs,
    level: Level::Info,
    summary: "titles are not blank and have at most 60 characters",
    clause: Clause::practice("practice", "texts for people"),
    why: "Clients show titles in lists and dialogs, and cut off what does not fit.",
    fix: "Say it in a few words; the rest belongs into the description.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const LONGEST: usize = 60;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for list in List::ALL {
        for item in case.list(list).unwrap_or_default() {
            let Some(title) = item.text("title") else { continue };
            seen = true;
            let length = title.chars().count();
            if title.trim().is_empty() {
                findings.push(item.finding("the title is blank", "/title"));
            } else if length > LONGEST || title.contains('\n') {
                findings.push(item.finding(
                    format!("the title has {length} characters and does not fit into a line"),
                    "/title",
                ));
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_applicable("nothing has a title")) }
}
