//! `delete-answer`: a server without sessions refuses DELETE with 405.

use crate::{
    probes::{DELETE_STEP, HTTP_EDGES},
    rules::prelude::*,
};
pub(super) static RULE: Rule = Rule {
    name: "delete-answer",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a server without sessions refuses DELETE with 405",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Earlier Streamable HTTP Revisions"),
    why: "A client of an earlier revision believes that it has ended a session, or that something went wrong, where there was none.",
    fix: "Answer 405 to DELETE where only 2026-07-28 is spoken.",
    needs: &[&HTTP_EDGES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if case.evidence().served.len() > 1 {
        return Err(Skip::not_applicable("the server also speaks the legacy era, which has sessions"));
    }
    let asked = case.first(&HTTP_EDGES, DELETE_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.status == 405 {
        return Ok(Vec::new());
    }
    let level = if http.is_success() { Level::Warning } else { Level::Info };
    let message = format!("DELETE should be refused with 405, but the answer is HTTP {}", http.status);
    Ok(vec![asked.finding(message, "").level(level)])
}
