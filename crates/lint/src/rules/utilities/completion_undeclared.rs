//! `completion-undeclared`: completion is served only where it is declared.

use crate::{
    probes::{COMPLETION_EDGES, COMPLETION_UNDECLARED_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "completion-undeclared",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "completion is served only where it is declared",
    clause: Clause::of("2025-11-25", "server/utilities/completion", "Capabilities"),
    why: "Clients go by the declaration and never offer suggestions that the server could give.",
    fix: "Declare the capability `completions`, or answer -32601.",
    needs: &[&COMPLETION_EDGES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    if case.capability("completions").is_some() {
        return Err(Skip::not_applicable("the server declares `completions`"));
    }
    let asked = case.first(&COMPLETION_EDGES, COMPLETION_UNDECLARED_STEP)?;
    if asked.result().is_some() {
        return Ok(vec![
            asked.finding("`completion/complete` works, and `completions` is not declared", "/result"),
        ]);
    }
    Ok(Vec::new())
}
