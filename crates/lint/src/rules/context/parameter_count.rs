//! `parameter-count`: a tool has few parameters.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};

pub(super) static RULE: Rule = Rule {
    name: "parameter-count",
    group: Group::Context,
    level: Level::Info,
    summary: "no tool has more than 20 parameters",
    clause: Clause::practice("client limits", "context cost"),
    why: "Models leave out or mix up parameters when there are many, and each costs room in the list.",
    fix: "Split the tool by what users want to do, or drop parameters that have one sensible value.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 20;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let count = tool.value.get("inputSchema").map_or(0, |root| schema::properties(root).count());
        if count > MOST {
            findings.push(tool.finding(format!("it has {count} parameters"), "/inputSchema/properties"));
        }
    }
    Ok(findings)
}
