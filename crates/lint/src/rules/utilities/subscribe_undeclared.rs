//! `subscribe-undeclared`: subscriptions are accepted only where `subscribe` is declared.

use crate::{
    probes::{SUBSCRIBE, SUBSCRIBE_UNDECLARED_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "subscribe-undeclared",
    group: Group::Utilities,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "subscriptions are taken only where `subscribe` is declared",
    clause: Clause::of("2025-11-25", "server/resources", "Capabilities"),
    why: "A client that subscribes anyway waits for updates that the server never promised.",
    fix: "Declare `resources.subscribe`, or answer -32601 to `resources/subscribe`.",
    needs: &[&SUBSCRIBE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    if case.capability("resources.subscribe").is_some() {
        return Err(Skip::not_applicable("the server declares `resources.subscribe`"));
    }
    let asked = case.first(&SUBSCRIBE, SUBSCRIBE_UNDECLARED_STEP)?;
    if asked.result().is_some() {
        let message =
            "a subscription to a resource that is not there was taken, and `subscribe` is not declared";
        return Ok(vec![asked.finding(message, "/result")]);
    }
    Ok(Vec::new())
}
