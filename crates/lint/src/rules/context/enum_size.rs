//! `enum-size`: lists of values are short.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "enum-size",
    group: Group::Context,
    level: Level::Info,
    summary: "no `enum` in a tool has more than 100 values",
    clause: Clause::practice("client limits", "context cost"),
    why: "Every value is sent to the model with every request, and models choose badly from long lists.",
    fix: "Take a text and say what it may be, or offer completion or a tool that lists the values.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 100;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for node in schema::of_tool(&tool) {
            let count = node.value.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
            if count > MOST {
                findings.push(
                    tool.finding(format!("an `enum` has {count} values"), &format!("{}/enum", node.pointer)),
                );
            }
        }
    }
    Ok(findings)
}
