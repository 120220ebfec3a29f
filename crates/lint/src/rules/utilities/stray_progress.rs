//! `stray-progress`: progress belongs to a request.

use crate::{
    evidence::Direction,
    probes::{INTRODUCTION, LISTS, TOOL_CALLS},
    rules::prelude::*,
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "stray-progress",
    group: Group::Utilities,
    level: Level::Error,
    summary: "progress is reported only for a token that was given",
    clause: Clause::of("2025-11-25", "basic/utilities/progress", "Behavior Requirements"),
    why: "Clients have no place for progress they did not ask for; strict ones disconnect.",
    fix: "Send `notifications/progress` only for requests with a `progressToken`, with that token.",
    needs: &[&INTRODUCTION, &LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let sent = case
        .lines()
        .flat_map(|(_, line)| line.frames.iter())
        .filter(|frame| frame.direction == Direction::Sent);
    let tokens: BTreeSet<String> = sent
        .filter_map(|frame| frame.json()?.pointer("/params/_meta/progressToken"))
        .map(ToString::to_string)
        .collect();
    let stray = messages.iter().filter(|message| message.method() == Some("notifications/progress")).find(
        |message| {
            message
                .value
                .pointer("/params/progressToken")
                .is_none_or(|token| !tokens.contains(&token.to_string()))
        },
    );
    Ok(stray
        .map(|message| {
            let token = message.value.pointer("/params/progressToken").unwrap_or(&Value::Null);
            let other = tokens.iter().find(|given| given.trim_matches('"') == plain(token));
            let text = match other {
                Some(given) => format!("the progress token {given} comes back as {token}"),
                None => "progress is reported for a token that no request used".to_owned(),
            };
            Finding::new(text).at(message.frame, message.pointer("/params/progressToken"))
        })
        .into_iter()
        .collect())
}

/// A token as text, whatever its type.
fn plain(token: &Value) -> String {
    token.as_str().map_or_else(|| token.to_string(), str::to_owned)
}
