//! `notification-shape`: every notification of the protocol has the members that its definition
//! asks for.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "notification-shape",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "every notification of the protocol has the members that its definition asks for",
    clause: Clause::of("2025-11-25", "basic", "Schema"),
    why: "A client that reads the notification by its definition throws it away, or ends the connection over it.",
    fix: "Send `params` as the schema of the revision defines them for the method.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// A member of `params`, and the check of its value.
type Wanted = (&'static str, fn(&Value) -> bool);

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let mut findings: Vec<Finding> = Vec::new();
    for message in messages.iter().filter(|message| message.value.get("id").is_none_or(Value::is_null)) {
        let Some(method) = message.method() else { continue };
        if message.value.get("id").is_some() && findings.iter().all(|it| it.about.as_deref() != Some(method))
        {
            let text = "a notification has the member `id`, with the value null";
            findings.push(Finding::new(text).about(method).at(message.frame, message.pointer("/id")));
            continue;
        }
        let params = message.value.get("params").unwrap_or(&Value::Null);
        let wrong = wanted(method).iter().find(|(member, is)| !params.get(member).is_some_and(is));
        if let Some((member, _)) = wrong
            && findings.iter().all(|known| known.about.as_deref() != Some(method))
        {
            let text = match params.get(member) {
                Some(value) => format!("`{member}` is {value}"),
                None => format!("`{member}` is missing"),
            };
            let at = message.pointer(&format!("/params/{member}"));
            findings.push(Finding::new(text).about(method).at(message.frame, at));
        }
    }
    Ok(findings)
}

fn wanted(method: &str) -> &'static [Wanted] {
    fn id(value: &Value) -> bool {
        value.is_string() || value.is_i64() || value.is_u64()
    }
    match method {
        "notifications/progress" => &[("progressToken", id), ("progress", Value::is_number)],
        "notifications/resources/updated" => &[("uri", Value::is_string)],
        "notifications/cancelled" => &[("requestId", id)],
        "notifications/tasks/status" | "notifications/tasks" => {
            &[("taskId", Value::is_string), ("status", Value::is_string)]
        }
        "notifications/elicitation/complete" => &[("elicitationId", Value::is_string)],
        "notifications/subscriptions/acknowledged" => &[("notifications", Value::is_object)],
        _ => &[],
    }
}
