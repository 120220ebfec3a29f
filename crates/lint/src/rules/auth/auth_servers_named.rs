//! `auth-servers-named`: the metadata names at least one authorization server.

use super::{bare, document};
use crate::{
    evidence::Evidence,
    outcome::{Level, Skip, Verdict},
    probes::AUTHORIZATION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-servers-named",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "the metadata names at least one authorization server",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Server Location"),
    why: "The client knows that it needs a token and not from whom.",
    fix: "List the issuer in `authorization_servers`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let (asked, document) = document(evidence).ok_or_else(|| Skip::not_verified("there is no protected-resource metadata"))?;
    let servers = document["authorization_servers"].as_array();
    if servers.is_some_and(|servers| servers.iter().any(|server| server.as_str().is_some_and(|text| !text.is_empty()))) {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding("`authorization_servers` is missing or empty", "/authorization_servers")])
}
