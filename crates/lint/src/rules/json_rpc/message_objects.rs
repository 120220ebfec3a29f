//! `message-objects`: every message is a JSON object.

use crate::{
    evidence::{Case, Message},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "message-objects",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "everything the server sends as JSON is an object with a method or a response",
    clause: Clause::of("2026-07-28", "basic", "Messages"),
    why: "A bare number, string or array is no JSON-RPC message; clients stop reading there.",
    fix: "Send only requests, notifications and responses; write everything else to standard error.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.messages();
    if messages.is_empty() {
        return Err(Skip::not_verified("the server sent no message"));
    }
    let wrong = |message: &&Message<'_>| message.method().is_none() && !message.is_response();
    let found = messages.iter().find(wrong).map(|message| {
        let text = "the server sent JSON that is neither request, notification nor response";
        Finding::new(text).at(message.frame, message.pointer.clone())
    });
    Ok(found.into_iter().collect())
}
