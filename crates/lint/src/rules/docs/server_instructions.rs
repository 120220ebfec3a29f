//! `server-instructions`: a server with many tools explains how to combine them.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "server-instructions",
    group: Group::Docs,
    level: Level::Info,
    summary: "a server with more than five tools gives `instructions`",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Initialization"),
    why: "Descriptions tell what each tool does; how they are combined, and when not to use them, a model has to guess.",
    fix: "Add `instructions`: what the server is for, which tool comes first, what to avoid.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Servers with fewer tools need no instructions.
const FEW: usize = 5;

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let count = case.list(List::Tools)?.len();
    let text = introduced.result().and_then(|it| it.get("instructions")).and_then(Value::as_str);
    if count <= FEW || text.is_some_and(|text| !text.trim().is_empty()) {
        return Ok(Vec::new());
    }
    Ok(vec![introduced.finding(format!("the server has {count} tools and gives no instructions"), "/result")])
}
