//! `removed-methods`: methods of the legacy era do not work in the modern one.

use crate::{
    probes::{REMOVED_METHODS, REMOVED_METHODS_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "removed-methods",
    group: Group::Lifecycle,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "a modern request for a removed method is refused with -32601",
    clause: Clause::of("2026-07-28", "changelog", "Major changes"),
    why: "A client that finds `ping` or `resources/subscribe` working relies on state that the modern era does not have.",
    fix: "Serve `ping`, `logging/setLevel` and `resources/subscribe` only to requests of the legacy era; answer modern ones with -32601.",
    needs: &[&REMOVED_METHODS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in case.all(&REMOVED_METHODS, REMOVED_METHODS_STEP)? {
        if asked.result().is_some() {
            let message = format!("`{}` is served to a modern request", asked.variant());
            findings.push(asked.finding(message, "/result").about(asked.variant()));
        }
    }
    Ok(findings)
}
