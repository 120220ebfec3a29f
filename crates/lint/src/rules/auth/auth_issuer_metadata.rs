//! `auth-issuer-metadata`: the authorization server publishes metadata under its own issuer.

use super::{bare, issuers};
use crate::{
    evidence::Evidence,
    outcome::{Level, Verdict},
    probes::AUTHORIZATION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-issuer-metadata",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "the authorization server publishes metadata under its own issuer",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Server Metadata Discovery"),
    why: "Clients cannot find the login page; and if the issuer differs they must stop, because somebody could stand in between.",
    fix: "Serve RFC 8414 or OpenID metadata at the issuer, with `issuer` equal to what the resource names.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let mut findings = Vec::new();
    for (issuer, asked, document) in issuers(evidence)? {
        match document {
            None => findings.push(asked.finding("it publishes no metadata", "").about(issuer)),
            Some(document) => {
                let named = document["issuer"].as_str().unwrap_or_default();
                if named.trim_end_matches('/') != issuer.trim_end_matches('/') {
                    let message = format!("its metadata names the issuer `{named}`");
                    findings.push(asked.finding(message, "/issuer").about(issuer));
                }
            }
        }
    }
    Ok(findings)
}
