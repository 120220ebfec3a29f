//! `instructions-size`: instructions are short.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::INTRODUCTION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "instructions-size",
    group: Group::Context,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`instructions` have at most 2,048 characters",
    clause: Clause::practice("client limits", "context cost"),
    why: "Clients put them into every conversation, and some cut them off after 2 KB.",
    fix: "Keep what a model needs to choose and combine tools; leave out what the descriptions already say.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
};

const MOST: usize = 2_048;

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let text = introduced.result().and_then(|it| it.get("instructions")).and_then(Value::as_str);
    let Some(text) = text else { return Err(Skip::not_applicable("the server gives no instructions")) };
    let length = text.chars().count();
    if length <= MOST {
        return Ok(Vec::new());
    }
    let tokens = length.div_ceil(4);
    let message = format!("the instructions have {length} characters, about {tokens} tokens");
    Ok(vec![introduced.finding(message, "/result/instructions")])
}
