//! `auth-even-protection`: every method wants the token.

use super::bare;
use crate::{
    evidence::Evidence,
    outcome::{Level, Skip, Verdict},
    probes::{AUTHORIZATION, AUTH_METHOD_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-even-protection",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "every method wants the token",
    clause: Clause::of("2025-11-25", "basic/authorization", "Access Token Usage"),
    why: "Who is not allowed in can still see what the server has, and use what it forgot to protect.",
    fix: "Check the token before the message is looked at, for every request.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let asked: Vec<_> = evidence.asked(AUTH_METHOD_STEP).collect();
    if asked.is_empty() {
        return Err(Skip::not_verified("no method was tried"));
    }
    let served = asked.into_iter().filter(|asked| asked.result().is_some());
    Ok(served.map(|asked| asked.finding("it is served without a token", "/result").about(asked.variant())).collect())
}
