//! `auth-resource-named`: the metadata is about the address that was asked for.

use super::{bare, document};
use crate::{
    evidence::Evidence,
    outcome::{Level, Skip, Verdict},
    probes::{AUTHORIZATION, AUTH_URL_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-resource-named",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "the metadata is about the address that was asked for",
    clause: Clause::practice("RFC 9728", "3.3 Protected Resource Metadata Validation"),
    why: "Clients must refuse a document about another resource, because a hostile server could name itself as a trusted one.",
    fix: "Set `resource` to the exact address of the endpoint, path included.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let (asked, document) = document(evidence).ok_or_else(|| Skip::not_verified("there is no protected-resource metadata"))?;
    let Some(resource) = document["resource"].as_str() else {
        return Ok(vec![asked.finding("the protected-resource metadata has no `resource`", "")]);
    };
    let url = evidence.lines.iter().find_map(|line| line.observed(AUTH_URL_STEP).next());
    let url = url.ok_or_else(|| Skip::not_verified("the address is not known"))?;
    let plain = |text: &str| text.trim_end_matches('/').to_owned();
    // A document for the whole origin covers its paths.
    if plain(url) == plain(resource) || url.starts_with(&format!("{}/", plain(resource))) {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding(format!("the metadata is about `{resource}`, not about `{url}`"), "/resource")])
}
