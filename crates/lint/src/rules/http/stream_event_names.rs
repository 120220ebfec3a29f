//! `stream-event-names`: events that carry messages are called `message`.

use super::exchanges;
use crate::{
    evidence::HttpHead,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "stream-event-names",
    group: Group::Http,
    level: Level::Error,
    carriers: Carriers::StreamableHttp,
    summary: "an event with a message has the name `message`, or none",
    clause: Clause::practice("WHATWG HTML", "Server-sent events"),
    why: "Clients read `message` events; those with another name are skipped, and the call never ends.",
    fix: "Leave the field `event` out, or set it to `message`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut streams = false;
    for asked in exchanges(case)? {
        let is_stream = |http: &&HttpHead| http.media().as_deref() == Some("text/event-stream");
        let Some(http) = asked.http().filter(is_stream) else { continue };
        streams = true;
        if let Some(name) = odd_name(&http.body) {
            let message = format!("a message comes in an event called `{name}`, which clients skip");
            return Ok(vec![asked.finding(message, "")]);
        }
    }
    if streams { Ok(Vec::new()) } else { Err(Skip::not_applicable("the server sent no event stream")) }
}

/// The name of the first event that holds a JSON object and is not called `message`.
fn odd_name(body: &str) -> Option<&str> {
    let mut name = "";
    for line in body.lines() {
        match line.split_once(':') {
            _ if line.is_empty() => name = "",
            Some(("event", value)) => name = value.trim(),
            Some(("data", value))
                if value.trim_start().starts_with('{') && !matches!(name, "" | "message") =>
            {
                return Some(name);
            }
            _ => {}
        }
    }
    None
}
