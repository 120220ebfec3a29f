//! `subscribe-works`: with `subscribe` declared, a listed resource can be subscribed to and
//! unsubscribed.

use crate::{
    probes::{LISTS, SUBSCRIBE, SUBSCRIBE_STEP, UNSUBSCRIBE_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "subscribe-works",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "where `subscribe` is declared, a listed resource can be subscribed to and unsubscribed from",
    clause: Clause::of("2025-11-25", "server/resources", "Subscriptions"),
    why: "The client shows a resource as live that is not, or fails when the user opens it.",
    fix: "Answer `resources/subscribe` and `resources/unsubscribe` with an empty result, or do not declare `subscribe`.",
    needs: &[&LISTS, &SUBSCRIBE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources.subscribe")?;
    if case.list(List::Resources)?.is_empty() {
        return Err(Skip::not_verified("there is no resource to subscribe to"));
    }
    let asked = case.first(&SUBSCRIBE, SUBSCRIBE_STEP)?;
    if asked.result().is_none() {
        return Ok(vec![
            asked.finding(format!("`resources/subscribe` fails: {}", asked.describe()), "/error"),
        ]);
    }
    let given_up = case.first(&SUBSCRIBE, UNSUBSCRIBE_STEP)?;
    if given_up.result().is_none() {
        let message = format!("`resources/unsubscribe` fails: {}", given_up.describe());
        return Ok(vec![given_up.finding(message, "/error")]);
    }
    Ok(Vec::new())
}
