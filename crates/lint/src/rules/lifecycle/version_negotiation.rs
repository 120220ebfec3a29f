//! `version-negotiation`: an unknown revision is not echoed.

use crate::{
    probes::{LATER_CLIENT_STEP, NO_SUCH_VERSION, UNKNOWN_VERSION, UNKNOWN_VERSION_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "version-negotiation",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "asked for a revision it does not know, the server answers with one it does",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Version Negotiation"),
    why: "A server that says yes to every revision makes clients use features it does not have.",
    fix: "If the requested `protocolVersion` is not supported, answer with the newest revision the server supports.",
    needs: &[&UNKNOWN_VERSION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let later = case.first(&UNKNOWN_VERSION, LATER_CLIENT_STEP)?;
    let asked = case.asked(UNKNOWN_VERSION_STEP).next().unwrap_or(later);
    if asked.error().is_some() {
        // A refusal is allowed, too.
        return Ok(Vec::new());
    }
    let Some(result) = asked.result() else { return Err(Skip::not_verified(asked.describe())) };
    match result["protocolVersion"].as_str() {
        Some(NO_SUCH_VERSION) => {
            let message = format!("the server accepted the revision {NO_SUCH_VERSION}, which does not exist");
            Ok(vec![asked.finding(message, "/result/protocolVersion")])
        }
        _ => Ok(Vec::new()),
    }
}
