//! `secrets-in-results`: no answer or log message contains a key or a password.

use crate::{
    evidence::Message,
    pointer,
    probes::{INTRODUCTION, LISTS, PROMPT_GETS, RESOURCE_READS, TOOL_CALLS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "secrets-in-results",
    group: Group::Security,
    level: Level::Error,
    summary: "no answer or log message of the server holds a key or a password",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Security"),
    why: "Answers go into the model's context, into logs and to whatever the model writes next.",
    fix: "Take secrets out of what tools, resources and prompts return and of what is logged, and change the one that was shown.",
    needs: &[&INTRODUCTION, &LISTS, &RESOURCE_READS, &PROMPT_GETS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Pointers to the texts of an answer; `secrets-in-texts` checks definitions.
const PLACES: [&str; 6] = [
    "/result/contents",
    "/result/messages",
    "/result/content",
    "/result/structuredContent",
    "/error",
    "/params/data",
];

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let mut findings: Vec<Finding> = Vec::new();
    for message in &messages {
        for place in PLACES {
            let value = message.value.pointer(place);
            if let Some(finding) = value.and_then(|value| judge(message, value, place))
                && findings.iter().all(|known| known.message != finding.message)
            {
                findings.push(finding);
            }
        }
    }
    Ok(findings)
}

fn judge(message: &Message<'_>, value: &Value, place: &str) -> Option<Finding> {
    let mut stack = vec![(value, place.to_owned())];
    while let Some((value, at)) = stack.pop() {
        match value {
            Value::String(text) => {
                if let Some(what) = trunkline_secrets::find(text) {
                    let finding = Finding::new(format!("an answer holds what looks like {what}"));
                    return Some(finding.at(message.frame, message.pointer(&at)));
                }
            }
            Value::Array(items) => {
                stack.extend(items.iter().enumerate().map(|(index, value)| (value, format!("{at}/{index}"))));
            }
            Value::Object(members) => {
                let inner =
                    members.iter().map(|(name, value)| (value, format!("{at}/{}", pointer::escape(name))));
                stack.extend(inner);
            }
            _ => {}
        }
    }
    None
}
