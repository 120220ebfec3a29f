//! `auth-registration`: unknown clients can register with the authorization server.

use super::{bare, issuers};
use crate::{evidence::Evidence, probes::AUTHORIZATION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "auth-registration",
    group: Group::Auth,
    level: Level::Info,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "clients that the authorization server does not know can introduce themselves",
    clause: Clause::of("2025-11-25", "basic/authorization", "Client Registration Approaches"),
    why: "Users of other clients have to request a client id by hand before they can log in.",
    fix: "Support client ID metadata documents (`client_id_metadata_document_supported`); keep dynamic registration for older clients.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let mut findings = Vec::new();
    let mut read = false;
    for (issuer, asked, document) in issuers(evidence)? {
        let Some(document) = document else { continue };
        read = true;
        if document["client_id_metadata_document_supported"] == true {
            continue;
        }
        let message = if document["registration_endpoint"].is_string() {
            "it knows dynamic registration only, which is deprecated since 2026-07-28"
        } else {
            "it knows no way to register a client"
        };
        findings.push(asked.finding(message, "").about(issuer));
    }
    if read { Ok(findings) } else { Err(Skip::not_verified("no authorization server published metadata")) }
}
