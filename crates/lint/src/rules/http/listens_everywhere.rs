//! `listens-everywhere`: a local server listens on loopback only.

use crate::{
    probes::{LISTENING, LISTENING_STEP},
    rules::prelude::*,
};
use std::net::IpAddr;

pub(super) static RULE: Rule = Rule {
    name: "listens-everywhere",
    group: Group::Http,
    level: Level::Warning,
    carriers: Carriers::Http,
    summary: "a server for this machine listens on a loopback address only",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Security & Endpoint"),
    why: "Everybody in the same network can call the tools: a café, an office, a container bridge.",
    fix: "Bind to 127.0.0.1 (or ::1) instead of 0.0.0.0 or all interfaces, unless the server authenticates its callers.",
    needs: &[&LISTENING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    if !case.evidence().is_local() {
        return Err(Skip::not_applicable("the server is not on this machine"));
    }
    let seen: Vec<IpAddr> = case
        .lines()
        .flat_map(|(_, line)| line.observed(LISTENING_STEP))
        .filter_map(|address| address.parse().ok())
        .collect();
    if seen.is_empty() {
        return Err(Skip::not_verified("the system does not show which process listens on the port"));
    }
    match seen.iter().find(|address| address.is_unspecified()) {
        Some(address) => {
            let message = format!("the server listens on all interfaces ({address})");
            Ok(vec![Finding::new(message)])
        }
        None => Ok(Vec::new()),
    }
}
