//! `name-header`: the name header agrees with the body.

use crate::{
    probes::{HTTP_EDGES, NAME_MISMATCH_STEP, NAME_MISSING_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "name-header",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a call whose `Mcp-Name` is missing or contradicts the body is refused with 400 and -32020",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Server Validation"),
    why: "A permission that a proxy gives for one tool is used for another.",
    fix: "Compare `Mcp-Name` with `params.name` or `params.uri`, and answer 400 with -32020 when they differ.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let mut findings = Vec::new();
    for (step, what) in [(NAME_MISMATCH_STEP, "names another tool"), (NAME_MISSING_STEP, "is missing")] {
        let asked = case.first(&HTTP_EDGES, step)?;
        let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
        if http.status != 400 || asked.error_code() != Some(-32020) {
            let message = format!(
                "a call whose `Mcp-Name` {what} should get 400 and -32020, but {} (HTTP {})",
                asked.describe(),
                http.status
            );
            findings.push(asked.finding(message, "").about(what));
        }
    }
    Ok(findings)
}
