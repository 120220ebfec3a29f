//! `resource-metadata`: the metadata is about this server.

use crate::{
    evidence::Evidence,
    probes::{AUTH_RESOURCE_STEP, AUTHORIZATION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "resource-metadata",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the protected-resource metadata names this server and at least one authorization server",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Server Location"),
    why: "Clients compare the resource with the address they use, and refuse tokens for another.",
    fix: "Set `resource` to the server's own URL and list the issuers under `authorization_servers`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    super::bare(evidence)?;
    let found = evidence.asked(AUTH_RESOURCE_STEP).find_map(|asked| Some((asked, asked.http()?.document()?)));
    let Some((asked, document)) = found else { return Err(Skip::not_verified("there is no metadata")) };
    let mut findings = Vec::new();
    let own = evidence
        .address
        .as_ref()
        .map(|url| url.as_str().trim_end_matches('/').to_owned())
        .unwrap_or_default();
    let resource = document["resource"].as_str().unwrap_or_default().trim_end_matches('/');
    // The resource may also be the origin, or a path above the address.
    if resource.is_empty() || !own.starts_with(resource) {
        findings.push(
            asked
                .finding(format!("`resource` is `{resource}`, and the server is {own}"), "")
                .about("resource"),
        );
    }
    let slash = document["resource"].as_str().is_some_and(|it| it != resource && it.matches('/').count() > 3);
    let bare = evidence.address.as_ref().is_some_and(|url| !url.path().ends_with('/'));
    if findings.is_empty() && slash && bare {
        let message =
            "`resource` ends with a slash, and the address has none; strict clients compare the two";
        findings.push(asked.finding(message, "").about("slash").level(Level::Info));
    }
    if document["authorization_servers"].as_array().is_none_or(Vec::is_empty) {
        findings.push(
            asked.finding("`authorization_servers` is missing or empty", "").about("authorization_servers"),
        );
    }
    Ok(findings)
}
