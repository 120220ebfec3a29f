//! `log-level-set`: a server that declares `logging` lets clients set the level.

use crate::{
    probes::{LOGGING, SET_LEVEL_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "log-level-set",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "a server that declares `logging` lets clients set the level",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Setting Log Level"),
    why: "Clients set the level right after the handshake; an error there ends the connection in some of them.",
    fix: "Answer `logging/setLevel` with an empty result for each of the eight levels.",
    needs: &[&LOGGING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("logging")?;
    let mut findings = Vec::new();
    for asked in case.all(&LOGGING, SET_LEVEL_STEP)? {
        if asked.result().is_none() {
            let message = format!("`logging/setLevel` fails: {}", asked.describe());
            findings.push(asked.finding(message, "/error").about(asked.variant()));
        }
    }
    Ok(findings)
}
