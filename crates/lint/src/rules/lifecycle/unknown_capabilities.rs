//! `unknown-capabilities`: client capabilities that are not known are ignored.

use crate::{
    probes::{LATER_CLIENT_STEP, UNKNOWN_VERSION, UNKNOWN_VERSION_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-capabilities",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "a client with capabilities that the server does not know can connect",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Capability Negotiation"),
    why: "Each new revision adds capabilities; a server that refuses what it does not know breaks with the next client.",
    fix: "Ignore unknown members of `capabilities` and `clientInfo`.",
    needs: &[&UNKNOWN_VERSION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let later = case.first(&UNKNOWN_VERSION, LATER_CLIENT_STEP)?;
    if later.result().is_some() {
        return Ok(Vec::new());
    }
    let plain = case.first(&UNKNOWN_VERSION, UNKNOWN_VERSION_STEP)?;
    if plain.result().is_none() {
        return Err(Skip::not_verified("the server refuses the revision that was tried with them"));
    }
    let message =
        format!("`initialize` fails at a client capability that is not known: {}", later.describe());
    Ok(vec![later.finding(message, "")])
}
