//! `capability-values`: capabilities have the specified form.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "capability-values",
    group: Group::Lifecycle,
    level: Level::Error,
    summary: "every capability is an object, and its known members are booleans",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Capability Negotiation"),
    why: "A capability of the wrong type makes typed clients refuse the whole introduction.",
    fix: "Write `\"tools\": {}` or `\"tools\": {\"listChanged\": true}`, never `\"tools\": true`.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

const FLAGS: [(&str, &str); 4] = [
    ("tools", "listChanged"),
    ("prompts", "listChanged"),
    ("resources", "listChanged"),
    ("resources", "subscribe"),
];

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let Some(Value::Object(capabilities)) = case.introduction().and_then(|it| it.get("capabilities")) else {
        return Err(Skip::not_verified("there are no capabilities to look at"));
    };
    let mut findings = Vec::new();
    for (name, value) in capabilities {
        if !value.is_object() {
            let message = format!("the capability `{name}` is not an object");
            findings.push(introduced.finding(message, &format!("/result/capabilities/{name}")).about(name));
        }
    }
    for (name, flag) in FLAGS {
        if capabilities.get(name).and_then(|value| value.get(flag)).is_some_and(|value| !value.is_boolean()) {
            let message = format!("`{name}.{flag}` is not a boolean");
            findings.push(
                introduced.finding(message, &format!("/result/capabilities/{name}/{flag}")).about(name),
            );
        }
    }
    Ok(findings)
}
