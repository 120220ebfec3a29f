//! `version-header`: an unknown version header is refused.

use crate::{
    probes::{BAD_VERSION_HEADER_STEP, HTTP_EDGES, HTTP_HEADERS, VERSION_HEADER_STEP},
    rules::prelude::*,
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "version-header",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "a request with an unsupported `MCP-Protocol-Version` is refused with 400",
    clause: Clause::of("2025-11-25", "basic/transports", "Protocol Version Header"),
    why: "A proxy or client of another revision gets answers that it misreads.",
    fix: "Answer 400 when the header names a revision that the server does not support.",
    needs: &[&HTTP_EDGES, &HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_EDGES, BAD_VERSION_HEADER_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    let mut findings = Vec::new();
    if http.status != 400 {
        let message = format!(
            "`MCP-Protocol-Version: 1999-01-01` should be refused with 400, but the answer is HTTP {}",
            http.status
        );
        findings.push(asked.finding(message, "").about("unsupported"));
    }
    // A server of both eras may serve a request without the header as a legacy one.
    if case.evidence().served == [Era::Modern] {
        let absent = case.first(&HTTP_HEADERS, VERSION_HEADER_STEP)?;
        let http = absent.http().ok_or_else(|| Skip::not_verified(absent.describe()))?;
        if http.status != 400 {
            let message = format!(
                "a request without `MCP-Protocol-Version` should be refused with 400, but the answer is HTTP {}",
                http.status
            );
            findings.push(absent.finding(message, "").about("absent"));
        }
    }
    Ok(findings)
}
