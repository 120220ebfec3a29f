//! `session-for-modern`: the modern era has no sessions.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-for-modern",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "no session id is given to modern requests",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Earlier revisions"),
    why: "Clients and balancers that see the header bind the client to one instance, which the modern era is meant to end.",
    fix: "Send `Mcp-Session-Id` only in answer to `initialize`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = false;
    for (index, line) in case.lines() {
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            let Some(http) = asked.http() else { continue };
            seen = true;
            if let Some(session) = http.header("mcp-session-id") {
                let message = format!("the answer to a modern request begins the session `{session}`");
                return Ok(vec![asked.finding(message, "")]);
            }
        }
    }
    if seen { Ok(Vec::new()) } else { Err(Skip::not_verified("there is no HTTP answer")) }
}
