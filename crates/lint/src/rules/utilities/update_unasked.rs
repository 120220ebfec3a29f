//! `update-unasked`: updates are sent only for subscribed resources.

use super::notifications;
use crate::{
    evidence::Direction,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "update-unasked",
    group: Group::Utilities,
    level: Level::Error,
    summary: "updates come only for resources that were subscribed to",
    clause: Clause::of("2025-11-25", "server/resources", "Subscriptions"),
    why: "The client has no place for the update; in the worst case it tells one user what another works on.",
    fix: "Send `notifications/resources/updated` only for addresses in the client's own subscriptions.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let subscribed = |uri: &str| {
        case.lines().flat_map(|(_, line)| &line.frames).any(|frame| {
            let json = frame.json().filter(|_| frame.direction == Direction::Sent);
            json.is_some_and(|message| {
                message["method"] == "resources/subscribe" && message["params"]["uri"] == uri
            })
        })
    };
    let foreign = notifications(case, "notifications/resources/updated")
        .into_iter()
        .find(|message| !message.value["params"]["uri"].as_str().is_some_and(subscribed));
    Ok(foreign
        .map(|message| {
            let text =
                format!("an update of {} arrived without a subscription", message.value["params"]["uri"]);
            Finding::new(text).at(message.frame, message.pointer("/params/uri"))
        })
        .into_iter()
        .collect())
}
