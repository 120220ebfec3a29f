//! `undeclared-features`: features that work are declared.

use crate::{
    probes::{UNDECLARED, UNDECLARED_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "undeclared-features",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a feature that is not declared is refused with -32601",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Operation"),
    why: "Clients use only what is declared, so that an undeclared feature is invisible to everybody.",
    fix: "Declare the capability in the introduction, or answer its methods with -32601.",
    needs: &[&UNDECLARED],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let declared = ["tools", "resources", "prompts"].iter().all(|name| case.capability(name).is_some());
    if declared {
        return Err(Skip::not_applicable("tools, resources and prompts are all declared"));
    }
    let mut findings = Vec::new();
    for asked in case.all(&UNDECLARED, UNDECLARED_STEP)? {
        let items = asked.result().and_then(|result| result.get(asked.variant())?.as_array());
        if let Some(items) = items.filter(|items| !items.is_empty()) {
            let message = format!(
                "`{0}` is not declared, but `{0}/list` gives {1} items",
                asked.variant(),
                items.len()
            );
            findings
                .push(asked.finding(message, &format!("/result/{}", asked.variant())).about(asked.variant()));
        }
    }
    Ok(findings)
}
