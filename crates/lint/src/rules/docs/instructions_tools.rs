//! `instructions-tools`: instructions mention only tools that exist.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::{prelude::*, schema, words},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "instructions-tools",
    group: Group::Docs,
    level: Level::Info,
    summary: "tools that the instructions name are in the list",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Initialization"),
    why: "A model follows the instructions, calls the tool by the old name and fails.",
    fix: "Bring the instructions up to date.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let text = introduced.result().and_then(|it| it.get("instructions")).and_then(Value::as_str);
    let Some(text) = text else { return Err(Skip::not_applicable("the server gives no instructions")) };
    let tools = case.list(List::Tools)?;
    let mut known: BTreeSet<&str> = tools.iter().filter_map(|tool| tool.text("name")).collect();
    for tool in &tools {
        // Names of parameters and result members are allowed, too.
        known.extend(
            schema::of_tool(tool)
                .iter()
                .flat_map(|node| schema::properties(node.value))
                .map(|(name, _)| name.as_str()),
        );
    }
    let odd = text.split('`').skip(1).step_by(2);
    let like_a_name = |word: &&str| {
        word.contains('_') && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    // A name counts as a tool's if it begins with the same verb as a listed tool.
    let verbs: BTreeSet<String> =
        tools.iter().filter_map(|tool| words::words(tool.text("name")?).into_iter().next()).collect();
    let unknown: BTreeSet<&str> = odd
        .filter(like_a_name)
        .filter(|word| {
            !known.contains(word) && words::words(word).first().is_some_and(|verb| verbs.contains(verb))
        })
        .collect();
    let unknown: Vec<&str> = unknown.into_iter().collect();
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let message = format!("the instructions name tools that are not in the list: {}", words::some(&unknown));
    Ok(vec![introduced.finding(message, "/result/instructions")])
}
