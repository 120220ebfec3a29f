//! `instructions-size`: instructions are short.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "instructions-size",
    group: Group::Context,
    level: Level::Info,
    summary: "the instructions take at most 1,000 tokens",
    clause: Clause::practice("client limits", "context cost"),
    why: "They stand in every prompt, beside those of all other servers.",
    fix: "Keep to what a model cannot learn from the tools themselves.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 1000;

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let Some(instructions) = case.introduction().and_then(|it| it.get("instructions")) else {
        return Err(Skip::not_applicable("the server gives no instructions"));
    };
    let tokens = crate::report::estimate(instructions);
    if tokens <= MOST {
        return Ok(Vec::new());
    }
    Ok(vec![
        introduced.finding(format!("the instructions take about {tokens} tokens"), "/result/instructions"),
    ])
}
