//! `stateless-requests`: nothing is taken from earlier requests of the same connection.

use crate::{
    probes::{BARE_FIRST_STEP, FIRST_REQUEST, FIRST_REQUEST_STEP, LISTS, MISSING_META, STATELESS_STEP},
    rules::{plain_fails, prelude::*},
};

pub(super) static RULE: Rule = Rule {
    name: "stateless-requests",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "a request stands for itself: a complete one is served first on a connection, a bare one never from what was said before",
    clause: Clause::of("2026-07-28", "basic", "Statelessness"),
    why: "Behind a proxy or a pool, the earlier request may be another client's: its version and capabilities leak into this one.",
    fix: "Read version and capabilities from each request's own `_meta`; keep none of it per connection.",
    needs: &[&LISTS, &MISSING_META, &FIRST_REQUEST],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let first = case.first(&FIRST_REQUEST, FIRST_REQUEST_STEP)?;
    if first.error().is_some() && plain_fails(case).is_ok() {
        let message = format!(
            "a complete request is refused as the first message of a connection: {}",
            first.describe()
        );
        return Ok(vec![first.finding(message, "/error").about("first")]);
    }
    let asked = case.first(&MISSING_META, STATELESS_STEP)?;
    if asked.result().is_none() {
        return Ok(Vec::new());
    }
    let alone = case.first(&MISSING_META, BARE_FIRST_STEP)?;
    // A server of both eras may serve a bare request as a legacy one, but then also on a new
    // connection.
    if alone.result().is_none() {
        let message = "a request without any `_meta` was served only because complete ones came before it";
        return Ok(vec![asked.finding(message, "/result")]);
    }
    Ok(Vec::new())
}
