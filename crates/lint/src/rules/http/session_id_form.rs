//! `session-id-form`: session ids cannot be guessed.

use crate::{
    probes::{INITIALIZE, INTRODUCED_AGAIN, INTRODUCTION, SESSIONS},
    rules::prelude::*,
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "session-id-form",
    group: Group::Http,
    level: Level::Warning,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "session ids are visible ASCII, at least 16 characters long, and differ in many places",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "An attacker who guesses a session id takes over the session.",
    fix: "Use a random UUID or 128 bits from a secure generator.",
    needs: &[&INTRODUCTION, &SESSIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SHORTEST: usize = 16;

fn check(case: &Case<'_>) -> Verdict {
    let mut ids: Vec<(Asked<'_>, &str)> = Vec::new();
    for asked in case.asked(INITIALIZE).chain(case.asked(INTRODUCED_AGAIN)) {
        ids.extend(asked.http().and_then(|http| http.header("mcp-session-id")).map(|id| (asked, id)));
    }
    let Some((first, id)) = ids.first() else {
        return Err(Skip::not_applicable("the server begins no sessions"));
    };
    if id.bytes().any(|byte| !(0x21..=0x7e).contains(&byte)) {
        let message = "the session id has characters outside visible ASCII";
        return Ok(vec![first.finding(message, "").level(Level::Error)]);
    }
    if id.len() < SHORTEST {
        let message = format!("the session id `{id}` has only {} characters", id.len());
        return Ok(vec![first.finding(message, "")]);
    }
    let distinct: BTreeSet<&str> = ids.iter().map(|(_, id)| *id).collect();
    if distinct.len() < ids.len() {
        return Ok(vec![first.finding("two sessions have the same id", "").level(Level::Error)]);
    }
    if let [(_, one), (asked, other), ..] = ids.as_slice() {
        let alike = one.bytes().zip(other.bytes()).filter(|(a, b)| a == b).count();
        // Ids that differ in few characters come from a counter or the clock.
        if one.len().max(other.len()) - alike <= 4 {
            let message = format!("the session ids `{one}` and `{other}` look counted");
            return Ok(vec![asked.finding(message, "")]);
        }
    }
    Ok(Vec::new())
}
