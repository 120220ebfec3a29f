//! `pkce`: logins are protected by PKCE.

use crate::{
    evidence::Evidence,
    probes::{AUTH_ISSUER_STEP, AUTHORIZATION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "pkce",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the authorization server supports PKCE with S256 and says so",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Code Protection"),
    why: "Clients must refuse to log in where `code_challenge_methods_supported` is absent.",
    fix: "List `S256` under `code_challenge_methods_supported`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    super::bare(evidence)?;
    let found = evidence.asked(AUTH_ISSUER_STEP).find_map(|asked| Some((asked, asked.http()?.document()?)));
    let Some((asked, document)) = found else {
        return Err(Skip::not_verified("there is no metadata of an issuer"));
    };
    let methods = document["code_challenge_methods_supported"].as_array();
    if methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding("`code_challenge_methods_supported` does not list S256", "")])
}
