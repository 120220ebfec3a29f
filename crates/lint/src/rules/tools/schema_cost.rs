//! `schema-cost`: a schema can be checked in reasonable time.

use crate::{probes::LISTS, rules::prelude::*, rules::schema};

pub(super) static RULE: Rule = Rule {
    name: "schema-cost",
    group: Group::Tools,
    level: Level::Error,
    summary: "no schema of a tool takes unreasonable time or memory to compile or to check",
    clause: Clause::practice("client limits", "schema cost"),
    why: "References that branch again and again turn 3 KB into millions of checks: a client hangs or runs out of memory, or refuses the tool.",
    fix: "Let unions branch once, on a property that tells the alternatives apart, and write shorter patterns.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, root) in schema::roots(&tool) {
            if let Err(bad) = trunkline_schema::judge(root)
                && bad.is_expensive()
            {
                findings.push(tool.finding(format!("`{}`: {bad}", &pointer[1..]), pointer));
            }
        }
    }
    Ok(findings)
}
