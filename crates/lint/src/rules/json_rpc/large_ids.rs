//! `large-ids`: an id above 2^53 comes back as it was.

use crate::{
    evidence::Message,
    probes::{ABOVE_SAFE, LARGE_ID_STEP, REQUEST_IDS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "large-ids",
    group: Group::JsonRpc,
    level: Level::Info,
    mode: Mode::Negative,
    summary: "an id above 2^53 comes back exactly",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "A client that uses 64-bit ids never finds the call that the answer belongs to. Few clients do.",
    fix: "Keep the id as the text it was, or refuse an id that cannot be kept.",
    needs: &[&REQUEST_IDS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&REQUEST_IDS, LARGE_ID_STEP)?;
    let messages = case.messages();
    let id = |message: &Message<'_>| message.value.get("id").cloned().unwrap_or_default();
    if messages.iter().any(|message| message.is_response() && id(message) == ABOVE_SAFE) {
        return Ok(Vec::new());
    }
    // A double holds only every second integer here.
    let near = |message: &&Message<'_>| {
        let number = id(message).as_f64().or_else(|| id(message).as_str()?.parse().ok());
        message.is_response() && number == Value::from(ABOVE_SAFE).as_f64()
    };
    let Some(found) = messages.iter().find(near) else {
        return Err(Skip::not_verified("the request with such an id got no answer"));
    };
    let text = format!("the request had the id {ABOVE_SAFE}, its response has {}", id(found));
    let finding = Finding::new(text).at(found.frame, found.pointer("/id"));
    Ok(vec![finding.with_frames(asked.sent_ref())])
}
