//! `log-level-refused`: an unknown log level is refused with -32602.

use crate::{
    probes::{LOGGING, UNKNOWN_LEVEL_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "log-level-refused",
    group: Group::Utilities,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "an unknown log level is refused with -32602",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Error Handling"),
    why: "A client that mistypes a level believes that it is set, and waits for messages that never come.",
    fix: "Answer the error -32602 to a level that is none of the eight.",
    needs: &[&LOGGING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("logging")?;
    let asked = case.first(&LOGGING, UNKNOWN_LEVEL_STEP)?;
    if asked.result().is_some() {
        return Ok(vec![asked.finding("the level `trunkline-lint-no-such-level` was accepted", "/result")]);
    }
    match asked.error_code() {
        Some(-32602) => Ok(Vec::new()),
        Some(code) => {
            let message = format!("an unknown level is refused with {code} instead of -32602");
            Ok(vec![asked.finding(message, "/error/code").level(Level::Info)])
        }
        None => Err(Skip::not_verified(asked.describe())),
    }
}
