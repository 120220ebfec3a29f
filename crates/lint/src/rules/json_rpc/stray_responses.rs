//! `stray-responses`: every response belongs to a request.

use crate::{
    evidence::Direction,
    probes::{ABOVE_SAFE, INTRODUCTION, LISTS, NOTIFICATIONS},
    rules::prelude::*,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "stray-responses",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "every response carries the id of a request that was sent, and is the only one that does",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "A response to nothing is dropped at best; a strict client disconnects, and the real answer is missing.",
    fix: "Send exactly one response per request, with its id.",
    needs: &[&INTRODUCTION, &LISTS, &NOTIFICATIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (index, line) in case.lines() {
        let mut sent: BTreeMap<String, usize> = BTreeMap::new();
        let mut written = String::new();
        for frame in line.frames.iter().filter(|frame| frame.direction == Direction::Sent) {
            match frame.json() {
                Some(Value::Array(batch)) => {
                    for id in batch.iter().filter_map(|it| it.get("id")) {
                        *sent.entry(id.to_string()).or_default() += 1;
                    }
                }
                Some(message) => {
                    if let Some(id) = message.get("id") {
                        *sent.entry(id.to_string()).or_default() += 1;
                    }
                }
                // A server may extract the id from a truncated message and use it.
                None => written.push_str(&frame.text()),
            }
        }
        for message in case.responses().filter(|message| message.frame.line == index) {
            let Some(id) = message.value.get("id").filter(|id| !id.is_null()) else { continue };
            let text = match sent.get_mut(&id.to_string()) {
                Some(0) => format!("a second response has the id {id}"),
                Some(open) => {
                    *open -= 1;
                    continue;
                }
                // The rule `large-ids` reports a rounded one.
                None if id.as_f64() == Value::from(ABOVE_SAFE).as_f64() => continue,
                None if written.contains(&format!("\"id\":{id}")) => continue,
                None => format!("a response has the id {id}, which no request had"),
            };
            if findings.is_empty() {
                findings.push(Finding::new(text).at(message.frame, message.pointer("/id")));
            }
        }
    }
    Ok(findings)
}
