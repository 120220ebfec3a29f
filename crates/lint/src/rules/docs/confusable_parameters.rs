//! `confusable-parameters`: one thing has one name.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::{schema, words},
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule = Rule {
    name: "confusable-parameters",
    group: Group::Docs,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "parameters of all tools are written in one style: not `user_id` here and `userId` there",
    clause: Clause::practice("practice", "texts for models"),
    why: "Models carry names over from one call to the next and use the wrong spelling.",
    fix: "Choose one spelling for each parameter and use it in all tools.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut spellings: BTreeMap<Vec<String>, (&str, &Item<'_>)> = BTreeMap::new();
    let mut findings = Vec::new();
    let mut told = BTreeSet::new();
    for tool in &tools {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        for (name, _) in schema::properties(root) {
            let (first, at) = *spellings.entry(words::words(name)).or_insert((name, tool));
            if first != name && told.insert(name) {
                let message = format!("`{name}` is `{first}` in {}", at.label());
                findings.push(tool.finding(message, &format!("/inputSchema/properties/{}", schema::escape(name))));
            }
        }
    }
    Ok(findings)
}
