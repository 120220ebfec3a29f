//! `stream-event-ids`: the ids of events are unique in a session.

use super::exchanges;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "stream-event-ids",
    group: Group::Http,
    level: Level::Error,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "the ids of events are unique in a session",
    clause: Clause::of("2025-11-25", "basic/transports", "Resumability and Redelivery"),
    why: "A client that lost its connection resumes behind an id; if two streams use it, it gets messages of another request.",
    fix: "Number the events over all streams of a session, or put the stream's name into the id.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut any = false;
    for asked in exchanges(case)? {
        let Some(http) = asked.http().filter(|http| http.media().as_deref() == Some("text/event-stream"))
        else {
            continue;
        };
        let line = asked.frames().first().map_or(0, |frame| frame.line);
        for id in http.body.lines().filter_map(|text| text.strip_prefix("id:")).map(str::trim) {
            any |= !id.is_empty();
            if !id.is_empty() && !seen.insert((line, id)) && findings.is_empty() {
                findings.push(asked.finding(format!("the event id `{id}` came twice in one session"), ""));
            }
        }
    }
    if any { Ok(findings) } else { Err(Skip::not_applicable("the server gives events no ids")) }
}
