//! `method-header`: the method header agrees with the body.

use crate::{
    probes::{HTTP_EDGES, METHOD_MISMATCH_STEP, METHOD_MISSING_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "method-header",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a request whose `Mcp-Method` is missing or contradicts the body is refused with 400 and -32020",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Server Validation"),
    why: "Proxies route and permit by the header; a server that looks only at the body lets a caller say one thing and do another.",
    fix: "Compare `Mcp-Method` with the body's method, and answer 400 with -32020 when they differ or it is missing.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (step, what) in [(METHOD_MISMATCH_STEP, "contradicts the body"), (METHOD_MISSING_STEP, "is missing")]
    {
        let asked = case.first(&HTTP_EDGES, step)?;
        let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
        if http.status != 400 || asked.error_code() != Some(-32020) {
            let message = format!(
                "a request whose `Mcp-Method` {what} should get 400 and -32020, but {} (HTTP {})",
                asked.describe(),
                http.status
            );
            findings.push(asked.finding(message, "").about(what));
        }
    }
    Ok(findings)
}
