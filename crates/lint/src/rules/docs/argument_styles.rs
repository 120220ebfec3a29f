//! `argument-styles`: argument names have one style.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "argument-styles",
    group: Group::Docs,
    level: Level::Info,
    summary: "the arguments of all tools are named in one style",
    clause: Clause::practice("practice", "tool quality"),
    why: "Models mix up `userId` and `user_id` when both occur, and the call fails.",
    fix: "Choose one style, such as snake_case, for all arguments of the server.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut spelt: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let properties = tool.value.pointer("/inputSchema/properties").and_then(Value::as_object);
        for (name, _) in properties.into_iter().flatten() {
            let bare = name.to_lowercase().replace(['_', '-'], "");
            match spelt.get(&bare) {
                Some((other, label)) if other != name => {
                    let message = format!("its argument `{name}` is called `{other}` by {label}");
                    findings.push(tool.finding(message, &format!("/inputSchema/properties/{name}")));
                }
                Some(_) => {}
                None => {
                    spelt.insert(bare, (name.clone(), tool.label()));
                }
            }
        }
    }
    Ok(findings)
}
