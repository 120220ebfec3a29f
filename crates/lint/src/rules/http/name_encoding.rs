//! `name-encoding`: encoded names in headers are decoded.

use crate::{
    probes::{HTTP_EDGES, NAME_ENCODED_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "name-encoding",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a base64-encoded `Mcp-Name` is decoded before it is compared",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Value Encoding"),
    why: "Tools and resources whose names are not plain ASCII cannot be called over HTTP.",
    fix: "Decode values of the form `=?base64?…?=` before comparing them.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&HTTP_EDGES, NAME_ENCODED_STEP)?;
    asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if asked.error_code() == Some(-32020) {
        return Ok(vec![
            asked.finding("an encoded `Mcp-Name` that fits the body is refused as a mismatch", "/error/code"),
        ]);
    }
    Ok(Vec::new())
}
