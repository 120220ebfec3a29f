//! `auth-resource-metadata`: the server publishes where tokens for it come from.

use super::{bare, document};
use crate::{
    evidence::Evidence,
    outcome::{Finding, Level, Verdict},
    probes::{AUTHORIZATION, AUTH_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-resource-metadata",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "the server publishes where tokens for it come from",
    clause: Clause::of("2025-11-25", "basic/authorization", "Protected Resource Metadata Discovery Requirements"),
    why: "Clients find the authorization server through this document alone; without it nobody can log in.",
    fix: "Serve the RFC 9728 document at `/.well-known/oauth-protected-resource` plus the path, and name it in the challenge.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    let asked = bare(evidence)?;
    if document(evidence).is_some() {
        return Ok(Vec::new());
    }
    let tried: Vec<String> = evidence
        .asked(AUTH_RESOURCE_STEP)
        .map(|asked| format!("{}: {}", asked.variant(), asked.http().map_or("no answer".to_owned(), |head| format!("HTTP {}", head.status))))
        .collect();
    let finding = asked.finding("there is no protected-resource metadata where clients look for it", "");
    Ok(vec![tried.into_iter().fold(finding, Finding::note)])
}
