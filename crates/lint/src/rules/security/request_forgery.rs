//! `request-forgery`: no tool fetches a URL of the machine it runs on.

use crate::{
    probes::{LISTS, OUTGOING_CALL_STEP, OUTGOING_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "request-forgery",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Active,
    summary: "no tool fetches an address of the machine it runs on",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "An attacker who controls the model's input reaches services that trust only this machine: databases, control panels, cloud metadata.",
    fix: "Resolve the name, refuse loopback, link-local and private addresses, and check again after every redirect.",
    needs: &[&LISTS, &OUTGOING_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut seen = false;
    for asked in case.asked(OUTGOING_CALL_STEP) {
        seen = true;
        if asked.line().observed(OUTGOING_CALL_STEP).any(|reached| reached == asked.variant()) {
            let message = "the server fetched an address on 127.0.0.1 because an argument said so";
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no tool that may be called takes an address")) }
}
