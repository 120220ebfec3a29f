//! `notification-status`: an accepted notification is answered with 202 and no body.

use crate::{
    probes::{NOTIFICATIONS, NOTIFICATIONS_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "notification-status",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a notification that was accepted is answered with 202 and an empty body",
    clause: Clause::of("2025-11-25", "basic/transports", "Sending Messages to the Server"),
    why: "Clients that get a body wait for a message in it, or fail to parse it.",
    fix: "Answer 202 without a body to notifications.",
    needs: &[&NOTIFICATIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let told = case.all(&NOTIFICATIONS, NOTIFICATIONS_STEP)?;
    // Unknown notifications may be refused; the first one is known.
    let asked = told[0];
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if !http.is_success() {
        let message = format!("a known notification is refused with HTTP {}", http.status);
        return Ok(vec![asked.finding(message, "")]);
    }
    if http.status != 202 {
        let message = format!("a notification is accepted with HTTP {} instead of 202", http.status);
        return Ok(vec![asked.finding(message, "")]);
    }
    if !http.body.trim().is_empty() {
        return Ok(vec![asked.finding("the answer to a notification has a body", "")]);
    }
    Ok(Vec::new())
}
