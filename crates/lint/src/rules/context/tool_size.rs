//! `tool-size`: one tool does not take the room of ten.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    report::estimate,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-size",
    group: Group::Context,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "every tool takes at most 1,000 tokens of the list",
    clause: Clause::practice("client limits", "context cost"),
    why: "The tool is sent to the model with every request, whether it is used or not.",
    fix: "Shorten the description and the schema: examples and edge cases belong into error texts or a resource.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const MOST: usize = 1_000;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let tokens = estimate(tool.value);
        if tokens > MOST {
            findings.push(tool.finding(format!("it takes about {tokens} tokens of the list"), ""));
        }
    }
    Ok(findings)
}
