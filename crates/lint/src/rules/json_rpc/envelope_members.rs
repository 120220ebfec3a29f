//! `envelope-members`: messages have only the members of JSON-RPC.

use crate::{
    pointer,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "envelope-members",
    group: Group::JsonRpc,
    level: Level::Info,
    summary: "messages have no members beside those of JSON-RPC",
    clause: Clause::of("2026-07-28", "basic", "Messages"),
    why: "Members of one's own are dropped by proxies and refused by strict readers.",
    fix: "Put additional data into `params._meta`, `result._meta` or `error.data`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const KNOWN: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    for message in &messages {
        let Value::Object(members) = message.value else { continue };
        let proper = message.method().is_some() || message.is_response();
        if let Some(name) = members.keys().find(|name| proper && !KNOWN.contains(&name.as_str())) {
            let text = format!("a message has the member `{name}`");
            let pointer = message.pointer(&format!("/{}", pointer::escape(name)));
            return Ok(vec![Finding::new(text).at(message.frame, pointer).about(name)]);
        }
    }
    Ok(Vec::new())
}
