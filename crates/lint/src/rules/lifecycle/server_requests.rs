//! `server-requests`: a modern server sends no requests.

use crate::{
    evidence::Message,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "server-requests",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "the server sends no requests of its own; it asks by answering `input_required`",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", ""),
    why: "Modern clients have no way to answer: the call that waits for the answer hangs until its timeout.",
    fix: "Return a result with `resultType: \"input_required\"` and let the client retry with the answers.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let asks = |message: &&Message<'_>| {
        message.method().is_some() && message.value.get("id").is_some_and(|id| !id.is_null())
    };
    let found = messages.iter().find(asks).map(|message| {
        let text = format!("the server sent the request `{}`", message.method().unwrap_or_default());
        Finding::new(text).at(message.frame, message.pointer("/method"))
    });
    Ok(found.into_iter().collect())
}
