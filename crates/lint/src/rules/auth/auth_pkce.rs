//! `auth-pkce`: the authorization server offers PKCE with S256.

use super::{bare, issuers};
use crate::{
    evidence::Evidence,
    outcome::{Level, Skip, Verdict},
    probes::AUTHORIZATION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-pkce",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "the authorization server offers PKCE with S256",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Code Protection"),
    why: "Clients must refuse to go on without it, because a stolen code would be as good as a token.",
    fix: "Support PKCE, and list `S256` in `code_challenge_methods_supported`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let mut findings = Vec::new();
    let mut read = false;
    for (issuer, asked, document) in issuers(evidence)? {
        let Some(document) = document else { continue };
        read = true;
        let methods = document["code_challenge_methods_supported"].as_array();
        if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            findings.push(asked.finding("it does not offer S256", "/code_challenge_methods_supported").about(issuer));
        }
    }
    if read { Ok(findings) } else { Err(Skip::not_verified("no authorization server published metadata")) }
}
