//! `instructions-text`: instructions are a string.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "instructions-text",
    group: Group::Lifecycle,
    level: Level::Error,
    summary: "`instructions`, where there are any, are a string",
    clause: Clause::of("2025-11-25", "schema", "InitializeResult"),
    why: "Clients put the instructions into the model's prompt; anything but a string makes the introduction invalid.",
    fix: "Send `instructions` as one string, or leave the member out.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    match case.introduction().and_then(|it| it.get("instructions")) {
        Some(value) if !value.is_string() => {
            Ok(vec![introduced.finding("`instructions` is not a string", "/result/instructions")])
        }
        _ => Ok(Vec::new()),
    }
}
