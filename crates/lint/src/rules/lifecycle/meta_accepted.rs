//! `meta-accepted`: `_meta` is accepted in every request.

use crate::{
    probes::{LISTS, METADATA, METADATA_STEP},
    rules::{plain_fails, prelude::*},
};

pub(super) static RULE: Rule = Rule {
    name: "meta-accepted",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "a request with `_meta` members that the server does not know is served",
    clause: Clause::of("2025-11-25", "basic", "_meta"),
    why: "Clients put progress tokens and trace ids into `_meta`; a server that refuses them serves none of their calls.",
    fix: "Ignore unknown members of `params` and of `_meta`.",
    needs: &[&LISTS, &METADATA],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&METADATA, METADATA_STEP)?;
    plain_fails(case)?;
    if asked.error().is_none() {
        return Ok(Vec::new());
    }
    let message = format!("a request fails because of its `_meta`: {}", asked.describe());
    Ok(vec![asked.finding(message, "/error")])
}
