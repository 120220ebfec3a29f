//! `cors-preflight`: a browser may send what the protocol needs.

use crate::{
    probes::{FOREIGN_ORIGIN, PREFLIGHT_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "cors-preflight",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "where a browser may call the server at all, its preflight allows the headers of the protocol",
    clause: Clause::practice("Fetch Standard", "CORS-preflight request"),
    why: "A client in a browser sees only a network error, because the browser never sends its request.",
    fix: "List the protocol's headers in `Access-Control-Allow-Headers`, and expose `Mcp-Session-Id`.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&FOREIGN_ORIGIN, PREFLIGHT_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.header("access-control-allow-origin").is_none() || !http.is_success() {
        return Err(Skip::not_applicable("the server allows no browser to call it"));
    }
    let allowed = http.header("access-control-allow-headers").unwrap_or_default().to_ascii_lowercase();
    let allowed: Vec<&str> = allowed.split(',').map(str::trim).collect();
    let lacking: Vec<&str> = asked.variant().split(',').filter(|name| !allowed.contains(name)).collect();
    if lacking.is_empty() || allowed.contains(&"*") {
        return Ok(Vec::new());
    }
    let message = format!("the preflight does not allow the headers {}", lacking.join(", "));
    Ok(vec![asked.finding(message, "")])
}
