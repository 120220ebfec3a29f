//! `subscribe-works`: declared subscriptions can be had.

use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{LISTS, SUBSCRIBE, SUBSCRIBE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "subscribe-works",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    summary: "a server that declares `resources.subscribe` takes subscriptions to its resources and ends them again",
    clause: Clause::of("2025-11-25", "server/resources", "Subscriptions"),
    why: "Clients rely on the declaration and show a resource as live that is not.",
    fix: "Implement `resources/subscribe` and `resources/unsubscribe`, or do not declare `subscribe`.",
    needs: &[&LISTS, &SUBSCRIBE],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources.subscribe")?;
    let mut findings = Vec::new();
    for asked in case.all(&SUBSCRIBE, SUBSCRIBE_STEP)? {
        if asked.result().is_none() {
            let message = format!("it fails for a listed resource: {}", asked.describe());
            findings.push(asked.finding(message, "/error").about(asked.variant()));
        }
    }
    Ok(findings)
}
