//! `initialize-result`: the handshake's answer is complete.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "initialize-result",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "the result of `initialize` has `protocolVersion`, `capabilities` and `serverInfo` with name and version",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Initialization"),
    why: "Clients with typed messages refuse a handshake that lacks a required member, so the server works in one client and not in another.",
    fix: "Return all three members; `capabilities` is an object (may be empty), `serverInfo` has the strings `name` and `version`.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

type Wanted = (&'static str, &'static str, fn(&Value) -> bool);

const WANTED: [Wanted; 5] = [
    ("/protocolVersion", "a string", Value::is_string),
    ("/capabilities", "an object", Value::is_object),
    ("/serverInfo", "an object", Value::is_object),
    ("/serverInfo/name", "a string", Value::is_string),
    ("/serverInfo/version", "a string", Value::is_string),
];

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.introduced().ok_or_else(|| Skip::not_verified("there is no answer to `initialize`"))?;
    let result = asked.result().unwrap_or(&Value::Null);
    let mut findings = Vec::new();
    for (pointer, kind, is) in WANTED {
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let parent_missing = pointer.rfind('/').is_some_and(|at| result.pointer(&pointer[..at]).is_none());
        match result.pointer(pointer) {
            Some(value) if is(value) => {}
            Some(_) => {
                findings.push(asked.finding(format!("`{name}` is not {kind}"), &format!("/result{pointer}")));
            }
            None if parent_missing => {}
            None => {
                findings.push(asked.finding(format!("`{name}` is missing"), &format!("/result{pointer}")));
            }
        }
    }
    Ok(findings)
}
