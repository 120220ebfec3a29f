//! `session-for-modern`: the modern era has no sessions.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "session-for-modern",
    group: Group::Http,
    level: Level::Warning,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "no session id is given to modern requests",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Earlier Streamable HTTP Revisions"),
    why: "Clients and balancers that see the header bind the client to one instance, which the modern era is meant to end.",
    fix: "Send `Mcp-Session-Id` only in answer to `initialize`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    // Only complete modern requests count: one without a version may be served as a legacy one.
    let introduced = case.introduced().ok_or_else(|| Skip::not_verified("there is no introduction"))?;
    let lists = List::ALL.into_iter().flat_map(|list| case.asked(list.step()));
    for asked in std::iter::once(introduced).chain(lists) {
        if let Some(session) = asked.http().and_then(|http| http.header("mcp-session-id")) {
            let message = format!("the answer to a modern request begins the session `{session}`");
            return Ok(vec![asked.finding(message, "")]);
        }
    }
    Ok(Vec::new())
}
