//! `resource-names-differ`: names distinguish resources in a list.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "resource-names-differ",
    group: Group::Resources,
    level: Level::Info,
    summary: "no two resources have the same name and title",
    clause: Clause::practice("practice", "names that users see"),
    why: "Users choose a resource from a list of names and cannot tell which is which.",
    fix: "Give each a title of its own.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = BTreeMap::new();
    let resources = case.list(List::Resources)?;
    for item in &resources {
        let shown = (item.text("name"), item.text("title"));
        let entry = seen.entry(shown).or_insert((item, 0_usize));
        entry.1 += 1;
    }
    let tell = |(item, count): &(&Item<'_>, usize)| {
        item.finding(format!("{count} resources have this name and title"), "/name")
    };
    Ok(seen.values().filter(|(item, count)| *count > 1 && item.text("name").is_some()).map(tell).collect())
}
