//! `completion-works`: with `completions` declared, listed arguments can be completed.

use crate::{
    probes::{COMPLETED_STEP, COMPLETION_EDGES, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "completion-works",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a declared completion completes the arguments that are listed",
    clause: Clause::of("2025-11-25", "server/utilities/completion", "Requesting Completions"),
    why: "The client offers a field with suggestions, and every key press gives an error.",
    fix: "Answer `completion/complete` for every listed prompt and template, with an empty list where nothing is known.",
    needs: &[&LISTS, &COMPLETION_EDGES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("completions")?;
    let all: Vec<_> = case.asked(COMPLETED_STEP).collect();
    if all.is_empty() {
        return Err(Skip::not_verified("there is no argument to complete"));
    }
    let failed = all.into_iter().filter(|asked| asked.result().is_none());
    Ok(failed
        .map(|asked| {
            let message = format!("completion fails: {}", asked.describe());
            asked.finding(message, "/error").about(asked.variant())
        })
        .collect())
}
