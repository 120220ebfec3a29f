//! `listen-filter`: a subscription grants and sends nothing that was not asked for.

use super::listened;
use crate::{probes::LISTEN, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "listen-filter",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "a subscription grants and sends nothing that was not asked for",
    clause: Clause::of("2026-07-28", "basic/patterns/subscriptions", "Opening a Stream"),
    why: "The client is woken for changes it did not want, and the acknowledgement no longer tells what it will get.",
    fix: "Acknowledge a subset of the filter in the request, and send only notifications of those kinds.",
    needs: &[&LISTEN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (asked, messages) = listened(case)?;
    let wanted = asked.sent().and_then(|sent| sent.json()?.pointer("/params/notifications")?.as_object());
    let wanted: Vec<&str> = wanted.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if messages.is_empty() {
        return Err(Skip::not_verified("nothing came on the subscription"));
    }
    for message in messages {
        let text = match message.method() {
            Some("notifications/subscriptions/acknowledged") => {
                let granted = message.value["params"]["notifications"].as_object();
                let more = granted.into_iter().flatten().find(|(name, value)| {
                    !wanted.contains(&name.as_str()) && **value != Value::Bool(false) && !value.is_null()
                });
                more.map(|(name, _)| format!("`{name}` is granted and was not asked for"))
            }
            Some(method) => kind(method)
                .filter(|kind| !wanted.contains(kind))
                .map(|_| format!("`{method}` came and was not asked for")),
            None => None,
        };
        if let Some(text) = text {
            let finding = Finding::new(text).at(message.frame, message.pointer("/params"));
            return Ok(vec![finding.with_frames(asked.sent_ref())]);
        }
    }
    Ok(Vec::new())
}

/// The subscription filter of a notification.
fn kind(method: &str) -> Option<&'static str> {
    match method {
        "notifications/tools/list_changed" => Some("toolsListChanged"),
        "notifications/prompts/list_changed" => Some("promptsListChanged"),
        "notifications/resources/list_changed" => Some("resourcesListChanged"),
        "notifications/resources/updated" => Some("resourceSubscriptions"),
        _ => None,
    }
}
