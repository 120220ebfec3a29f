//! `auth-encrypted-endpoints`: authorization servers and their endpoints are https, or on
//! loopback.

use super::{bare, document, issuers};
use crate::{evidence::Evidence, probes::AUTHORIZATION, rules::prelude::*};
use serde_json::Value;
use trunkline_client::is_this_machine;

pub(super) static RULE: Rule = Rule {
    name: "auth-encrypted-endpoints",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "authorization servers and their endpoints are https, or on loopback",
    clause: Clause::of("2025-11-25", "basic/authorization", "Communication Security"),
    why: "Everyone on the way reads codes and tokens, and can put his own login page in place of the real one.",
    fix: "Serve the authorization server over https.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let (asked, resource) =
        document(evidence).ok_or_else(|| Skip::not_verified("there is no protected-resource metadata"))?;
    let mut findings = Vec::new();
    for server in resource["authorization_servers"].as_array().into_iter().flatten().filter_map(Value::as_str)
    {
        if is_open(server) {
            findings.push(
                asked
                    .finding("the authorization server is not encrypted", "/authorization_servers")
                    .about(server),
            );
        }
    }
    for (issuer, asked, document) in issuers(evidence).unwrap_or_default() {
        for member in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            let address = document.as_ref().and_then(|document| document[member].as_str());
            if address.is_some_and(is_open) {
                findings.push(
                    asked
                        .finding(format!("that of `{issuer}` is not encrypted"), &format!("/{member}"))
                        .about(member),
                );
            }
        }
    }
    Ok(findings)
}

/// True if a URL is neither https nor on this machine.
fn is_open(address: &str) -> bool {
    let Ok(url) = url::Url::parse(address) else { return true };
    url.scheme() != "https" && !is_this_machine(&url)
}
