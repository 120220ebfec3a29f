//! `notification-silence`: notifications are not answered.

use crate::{
    probes::{NOTIFICATIONS, NOTIFICATIONS_AFTER, NOTIFICATIONS_STEP},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "notification-silence",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a notification gets no response, whether it is known or not",
    clause: Clause::of("2026-07-28", "basic", "Notifications"),
    why: "A response to a notification matches no request; strict clients treat it as a protocol error and disconnect.",
    fix: "Send no message for a notification, not even an error for an unknown one.",
    needs: &[&NOTIFICATIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let told = case.all(&NOTIFICATIONS, NOTIFICATIONS_STEP)?;
    let after = case.asked(NOTIFICATIONS_AFTER);
    let mut findings = Vec::new();
    for asked in told.into_iter().chain(after) {
        let own = asked.sent().and_then(|sent| sent.json()?.get("id"));
        let method =
            asked.sent().and_then(|sent| sent.json()?.get("method")?.as_str()).unwrap_or("notification");
        for message in asked.got() {
            let stray = message.is_response() && message.value.get("id").is_none_or(|id| Some(id) != own);
            // Some servers refuse an HTTP request with an error without an id; other rules judge
            // that.
            let http_refusal = asked.http().is_some_and(|http| !http.is_success())
                && message.value.get("id").is_none_or(Value::is_null);
            if stray && !http_refusal && !asked.is_late(&message) {
                let text = format!("a response came for the notification `{method}`");
                findings.push(asked.finding(text, "").at(message.frame, message.pointer("")).about(method));
            }
        }
    }
    Ok(findings)
}
