//! `auth-challenge`: a 401 says where to get a token.

use crate::{
    evidence::{Evidence, HttpHead},
    probes::{AUTH_BARE_STEP, AUTH_RESOURCE_STEP, AUTHORIZATION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "auth-challenge",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "a 401 leads to the protected-resource metadata, by its challenge or by the well-known address",
    clause: Clause::of(
        "2025-11-25",
        "basic/authorization",
        "Protected Resource Metadata Discovery Requirements",
    ),
    why: "Without it clients cannot begin to log in: the user sees \"unauthorized\" and nothing to do about it.",
    fix: "Send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with every 401, and serve the document.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let bare =
        evidence.asked(AUTH_BARE_STEP).find(|asked| asked.http().is_some_and(|http| http.status == 401));
    let Some(bare) = bare else {
        return Err(if evidence.asked(AUTH_BARE_STEP).next().is_some() {
            Skip::not_applicable("the server asks for no authorization")
        } else {
            Skip::not_verified("it was not tried without credentials")
        });
    };
    let challenge = bare.http().and_then(|http| http.header("www-authenticate"));
    if let Some(other) = challenge.filter(|challenge| !challenge.to_ascii_lowercase().contains("bearer")) {
        return Ok(vec![
            bare.finding(format!("the challenge is `{other}`, and not one for a bearer token"), ""),
        ]);
    }
    let found =
        evidence.asked(AUTH_RESOURCE_STEP).any(|asked| asked.http().is_some_and(HttpHead::is_success));
    if found {
        return Ok(Vec::new());
    }
    let message = "the 401 names no metadata, and there is none at the well-known addresses";
    Ok(vec![bare.finding(message, "")])
}
