//! `completion-values`: completion results have the specified form.

use crate::{
    probes::{COMPLETION_STEP, COMPLETIONS, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "completion-values",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a completion gives at most 100 strings, and only where `completions` is declared",
    clause: Clause::of("2025-11-25", "server/utilities/completion", "Completion Results"),
    why: "Clients refuse longer lists; a feature that is not declared is never used.",
    fix: "Cut the list at 100 values and set `hasMore`; declare `completions`.",
    needs: &[&LISTS, &COMPLETIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 100;

fn check(case: &Case<'_>) -> Verdict {
    let declared = case.capability("completions").is_some();
    let asked = case.first(&COMPLETIONS, COMPLETION_STEP)?;
    let Some(result) = asked.result() else {
        if declared && asked.error_code() == Some(-32601) {
            return Ok(vec![
                asked.finding("`completions` is declared, but there is no such method", "/error"),
            ]);
        }
        return if declared { Err(Skip::not_verified(asked.describe())) } else { Ok(Vec::new()) };
    };
    if !declared {
        return Ok(vec![
            asked
                .finding("completion works, but `completions` is not declared", "/result")
                .level(Level::Warning),
        ]);
    }
    let Some(values) = result.pointer("/completion/values").and_then(Value::as_array) else {
        return Ok(vec![asked.finding("the result has no list `completion.values`", "/result")]);
    };
    if values.len() > MOST {
        let message = format!("there are {} values, and at most 100 are allowed", values.len());
        return Ok(vec![asked.finding(message, "/result/completion/values")]);
    }
    match values.iter().position(|value| !value.is_string()) {
        Some(index) => {
            Ok(vec![asked.finding("a value is not a string", &format!("/result/completion/values/{index}"))])
        }
        None => Ok(Vec::new()),
    }
}
