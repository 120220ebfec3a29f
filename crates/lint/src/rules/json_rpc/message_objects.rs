//! `message-objects`: every message is a JSON object.

use crate::{
    evidence::Message,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "message-objects",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "everything the server sends as JSON is an object with a method or a response",
    clause: Clause::of("2026-07-28", "basic", "Messages"),
    why: "A bare number, string or array is no JSON-RPC message; clients stop reading there.",
    fix: "Send only requests, notifications and responses; write everything else to standard error.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let wrong = |message: &&Message<'_>| message.method().is_none() && !message.is_response();
    let found = messages.iter().find(wrong).map(|message| {
        let text = "the server sent JSON that is neither request, notification nor response";
        Finding::new(text).at(message.frame, message.pointer.clone())
    });
    Ok(found.into_iter().collect())
}
