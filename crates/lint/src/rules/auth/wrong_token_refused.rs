//! `wrong-token-refused`: a wrong token is refused.

use crate::{
    evidence::Evidence,
    probes::{AUTH_GARBAGE_STEP, AUTHORIZATION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "wrong-token-refused",
    group: Group::Auth,
    level: Level::Critical,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "a made-up token is refused, in the header and in the query",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Handling"),
    why: "A client with any made-up token can call the tools.",
    fix: "Verify signature, expiry and audience of each token, and take none from the query.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    super::bare(evidence)?;
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in evidence.asked(AUTH_GARBAGE_STEP) {
        let Some(http) = asked.http() else { continue };
        seen = true;
        // A JSON-RPC error shows that the message was processed, so the token was accepted.
        let read = !matches!(http.status, 401 | 403) && asked.error_code().is_some();
        if http.is_success() || read {
            let message = format!("a made-up token in the {} is accepted", asked.variant());
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no wrong token was tried")) }
}
