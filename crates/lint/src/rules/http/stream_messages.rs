//! `stream-messages`: every event with data is one JSON-RPC message.

use super::exchanges;
use crate::{
    evidence::{Direction, HttpHead},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "stream-messages",
    group: Group::Http,
    level: Level::Error,
    carriers: Carriers::StreamableHttp,
    summary: "every event with data is one JSON-RPC message, and one of them is the response",
    clause: Clause::of("2025-11-25", "basic/transports", "Sending Messages to the Server"),
    why: "Clients parse every event; one that is no message ends the stream with an error, or is lost.",
    fix: "Send one message per event in `data`, and use comment lines (`: …`) to keep a stream alive.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut streams = false;
    let mut findings: Vec<Finding> = Vec::new();
    for asked in exchanges(case)? {
        if asked.http().and_then(HttpHead::media).as_deref() != Some("text/event-stream") {
            continue;
        }
        streams = true;
        if findings.is_empty()
            && let Some(why) = unanswered(&asked)
        {
            findings.push(asked.finding(why, ""));
        }
        for at in asked.frames() {
            let Some(frame) = case.evidence().frame(at) else { continue };
            if frame.direction == Direction::Noise && findings.is_empty() {
                let message = format!(
                    "an event is no JSON, beginning with {:?}",
                    frame.text().chars().take(40).collect::<String>()
                );
                findings.push(asked.finding(message, "").with_frame(at));
            }
        }
    }
    if streams { Ok(findings) } else { Err(Skip::not_applicable("the server sent no event stream")) }
}

/// The reason why a stream ended without the response to its request.
fn unanswered(asked: &Asked<'_>) -> Option<&'static str> {
    let sent = asked.sent()?.json()?;
    let http = asked.http().filter(|http| http.ended && http.is_success())?;
    if sent.get("id").is_none() || sent["method"] == "subscriptions/listen" || asked.answer().is_some() {
        return None;
    }
    let body = http.body.replace('\r', "");
    let last = body.rsplit("\n\n").next().unwrap_or_default();
    Some(if body.trim_start().starts_with(['{', '[']) {
        "the body is JSON and no event stream"
    } else if last.starts_with("data:") || last.contains("\ndata:") {
        "the last event has no blank line after it, so clients never process it"
    } else {
        "the stream ended without the response"
    })
}
