//! `notification-survival`: an unknown notification does no harm.

use crate::{
    probes::{NOTIFICATIONS, NOTIFICATIONS_AFTER, NOTIFICATIONS_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "notification-survival",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "after notifications the server answers the next request as usual",
    clause: Clause::of("2026-07-28", "basic", "Notifications"),
    why: "Newer clients send notifications that a server may not know; one that dies of them cannot be used with them.",
    fix: "Ignore notifications whose method is unknown.",
    needs: &[&NOTIFICATIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let told = case.first(&NOTIFICATIONS, NOTIFICATIONS_STEP)?;
    let after = case.first(&NOTIFICATIONS, NOTIFICATIONS_AFTER)?;
    if after.result().is_some() || after.error().is_some() {
        return Ok(Vec::new());
    }
    let message = format!("after notifications a normal request fails: {}", after.describe());
    Ok(vec![after.finding(message, "").with_frames(told.frames())])
}
