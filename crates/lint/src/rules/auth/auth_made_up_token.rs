//! `auth-made-up-token`: a token that nobody issued is refused.

use super::bare;
use crate::{
    evidence::{Evidence, HttpHead},
    outcome::{Level, Skip, Verdict},
    probes::{AUTHORIZATION, AUTH_TOKEN_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-made-up-token",
    group: Group::Auth,
    level: Level::Critical,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "a token that nobody issued is refused",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Handling"),
    why: "The server only looks whether there is a token: everyone who knows the address can use it.",
    fix: "Check signature or introspection, issuer, audience and expiry of every token, and take it from the header only.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let asked: Vec<_> = evidence.asked(AUTH_TOKEN_STEP).collect();
    if asked.is_empty() {
        return Err(Skip::not_verified("no token was tried"));
    }
    let served = asked.into_iter().filter(|asked| asked.http().is_some_and(HttpHead::is_success));
    Ok(served.map(|asked| asked.finding("it is accepted", "").about(format!("a token, {}", asked.variant()))).collect())
}
