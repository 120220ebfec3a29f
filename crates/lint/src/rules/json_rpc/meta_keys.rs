//! `meta-keys`: reserved `_meta` keys are left to the protocol.

use crate::{
    pointer,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "meta-keys",
    group: Group::JsonRpc,
    level: Level::Warning,
    summary: "`_meta` keys have the form the specification gives them, and reserved prefixes are not used for own data",
    clause: Clause::of("2026-07-28", "basic", "_meta"),
    why: "A reserved key that means something else breaks clients when the protocol defines it.",
    fix: "Use a prefix of your own domain, such as `com.example/trace`, or a plain name.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const DEFINED: [&str; 9] = [
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/subscriptionId",
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/model-immediate-response",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
    "progressToken",
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::<Finding>::new();
    for message in case.some_messages()? {
        for holder in ["result", "params"] {
            let Some(Value::Object(meta)) = message.value.get(holder).and_then(|it| it.get("_meta")) else {
                continue;
            };
            for key in meta.keys() {
                let Some(wrong) = wrong(key) else { continue };
                let pointer = format!("/{holder}/_meta/{}", pointer::escape(key));
                if findings.iter().all(|known| known.about.as_deref() != Some(key)) {
                    let text = format!("the `_meta` key `{key}` {wrong}");
                    findings.push(Finding::new(text).at(message.frame, message.pointer(&pointer)).about(key));
                }
            }
        }
    }
    Ok(findings)
}

fn wrong(key: &str) -> Option<&'static str> {
    if DEFINED.contains(&key) {
        return None;
    }
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let good = |c: char| c.is_ascii_alphanumeric();
    let fits = |text: &str| {
        text.starts_with(good) && text.ends_with(good) && text.chars().all(|c| good(c) || "-_.".contains(c))
    };
    if !name.is_empty() && !fits(name) {
        return Some("has a name with characters that are not allowed");
    }
    let prefix = prefix?;
    if prefix.split('.').any(|label| !fits(label)) {
        return Some("has a prefix that is no dotted name");
    }
    let reserved =
        prefix.split('.').nth(1).is_some_and(|label| matches!(label, "modelcontextprotocol" | "mcp"));
    reserved.then_some("uses a prefix that is reserved for the protocol")
}
