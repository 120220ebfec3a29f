//! `notification-accepted`: a notification is answered with 202 and an empty body.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{INITIALIZED, INTRODUCTION},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "notification-accepted",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a notification is answered with 202 and an empty body",
    clause: Clause::of("2025-11-25", "basic/transports", "Sending Messages to the Server"),
    why: "A client that gets another status takes the notification for refused; one that gets a body waits for a message in it.",
    fix: "Answer accepted notifications with HTTP 202 and no body.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in case.all(&INTRODUCTION, INITIALIZED)?.into_iter().take(1) {
        let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
        if http.status != 202 {
            let message = format!("`notifications/initialized` is answered with HTTP {} instead of 202", http.status);
            let finding = asked.finding(message, "");
            findings.push(if http.is_success() { finding.level(Level::Warning) } else { finding });
        } else if !http.body.trim().is_empty() {
            findings.push(asked.finding("the answer to `notifications/initialized` has a body", ""));
        }
    }
    Ok(findings)
}
