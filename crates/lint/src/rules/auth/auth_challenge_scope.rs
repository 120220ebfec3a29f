//! `auth-challenge-scope`: the challenge names exactly the scopes that are needed.

use super::bare;
use crate::{evidence::Evidence, probes::AUTHORIZATION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "auth-challenge-scope",
    group: Group::Auth,
    level: Level::Info,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the challenge names the scopes that are needed, and not more",
    clause: Clause::of(
        "2025-11-25",
        "basic/authorization",
        "Protected Resource Metadata Discovery Requirements",
    ),
    why: "Without `scope` clients ask for everything that is listed; the user sees a long consent page and gives too much.",
    fix: "Add `scope=\"…\"` with what this request needs to the challenge, without `offline_access`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let asked = bare(evidence)?;
    let challenge = asked.http().and_then(|head| head.header("www-authenticate"));
    let challenge = challenge.ok_or_else(|| Skip::not_verified("there is no challenge"))?;
    if challenge.contains("offline_access") {
        return Ok(vec![asked.finding("the challenge asks for `offline_access`", "").level(Level::Warning)]);
    }
    if challenge.contains("scope=") {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding("the challenge names no scope", "")])
}
