//! `issuer-metadata`: the issuer in the metadata is the expected one.

use crate::{
    evidence::Evidence,
    probes::{AUTH_ISSUER_STEP, AUTHORIZATION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "issuer-metadata",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the authorization server publishes metadata whose `issuer` is the address it was found by",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Server Metadata Discovery"),
    why: "Clients must refuse a document whose issuer differs: it may be somebody else's.",
    fix: "Serve the metadata at the well-known address, with `issuer` exactly as in `authorization_servers`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    super::bare(evidence)?;
    let asked: Vec<_> = evidence.asked(AUTH_ISSUER_STEP).collect();
    let Some(first) = asked.first() else {
        return Err(Skip::not_verified("no authorization server is named"));
    };
    let found = asked.iter().find_map(|asked| Some((asked, asked.http()?.document()?)));
    let Some((asked, document)) = found else {
        return Ok(vec![first.finding(format!("{} publishes no metadata", first.variant()), "")]);
    };
    let issuer = document["issuer"].as_str().unwrap_or_default();
    if issuer.trim_end_matches('/') == asked.variant().trim_end_matches('/') {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding(format!("`issuer` is `{issuer}`, and it was found by {}", asked.variant()), "")])
}
