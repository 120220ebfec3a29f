//! `session-id-stable`: a session keeps its id.

use super::sessions;
use crate::{
    evidence::{Exchange, HttpHead},
    probes::{INITIALIZE, INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "session-id-stable",
    group: Group::Http,
    level: Level::Error,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "answers in a session carry its own session id, or none",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "Clients that take the newest id change the session in the middle of their work; the state of the first is lost.",
    fix: "Assign `Mcp-Session-Id` in the answer to `initialize` only.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    for (index, line) in case.lines() {
        let id = |exchange: &Exchange| {
            exchange
                .http
                .as_ref()
                .and_then(|http: &HttpHead| http.header("mcp-session-id").map(str::to_owned))
        };
        let Some(own) = line.exchanges.iter().find(|it| it.step == INITIALIZE).and_then(id) else { continue };
        let lists = line.exchanges.iter().filter(|exchange| List::of(exchange.step).is_some());
        if let Some(other) = lists.into_iter().find(|list| id(list).is_some_and(|id| id != own)) {
            let asked = Asked::new(case.evidence(), index, other);
            return Ok(vec![asked.finding("an answer inside a session gives out another session id", "")]);
        }
    }
    Ok(Vec::new())
}
