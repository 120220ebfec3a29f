//! `client-requests`: a server sends only requests for declared capabilities, and only after
//! `initialized`.

use crate::{
    evidence::{Direction, Frame, FrameRef, Line},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "client-requests",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "the server asks the client only for what it declared, and only after `notifications/initialized`",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Operation"),
    why: "A client that cannot do what it is asked for answers with an error or not at all, and the call that waits for it hangs.",
    fix: "Look at the client's `capabilities` before you ask for roots, sampling or input, and wait for `notifications/initialized`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Requests to a client, and the capability each needs.
const NEEDED: [(&str, &str); 3] =
    [("roots/list", "roots"), ("sampling/createMessage", "sampling"), ("elicitation/create", "elicitation")];

fn check(case: &Case<'_>) -> Verdict {
    case.introduced().ok_or_else(|| Skip::not_verified("there is no answer to `initialize`"))?;
    Ok(case.lines().filter_map(|(index, line)| judge(index, line)).take(1).collect())
}

fn judge(index: usize, line: &Line) -> Option<Finding> {
    let mut declared = &Value::Null;
    let mut ready = false;
    for (number, frame) in line.frames.iter().enumerate() {
        let (Some(message), Some(method)) = (frame.json(), method(frame)) else { continue };
        if frame.direction == Direction::Sent {
            ready |= method == "notifications/initialized";
            if method == "initialize" {
                declared = &message["params"]["capabilities"];
            }
            continue;
        }
        if message.get("id").is_none() || method == "ping" {
            continue;
        }
        let lacking = NEEDED.iter().find(|(known, need)| *known == method && declared.get(need).is_none());
        let (text, level) = match lacking {
            Some((_, need)) => (
                format!("the server asks `{method}` of a client that does not declare `{need}`"),
                Level::Error,
            ),
            None if !ready => (
                format!("the server asks `{method}` before the client said that it is ready"),
                Level::Warning,
            ),
            None => continue,
        };
        return Some(Finding::new(text).at(FrameRef { line: index, frame: number }, "/method").level(level));
    }
    None
}

fn method(frame: &Frame) -> Option<&str> {
    frame.json()?.get("method")?.as_str()
}
