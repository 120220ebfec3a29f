//! `form-secrets`: forms do not ask for secrets.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "form-secrets",
    group: Group::Security,
    level: Level::Error,
    summary: "no question of the server asks for passwords or keys in a form",
    clause: Clause::of("2025-11-25", "client/elicitation", "Form Mode Security"),
    why: "What is typed into a form goes through the client, its logs and often the model.",
    fix: "Send the user to a page of the server (URL elicitation) for secrets.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SECRET: [&str; 7] =
    ["password", "passwd", "secret", "api_key", "apikey", "access_token", "private_key"];

fn check(case: &Case<'_>) -> Verdict {
    let messages = case.some_messages()?;
    let mut findings = Vec::new();
    for message in &messages {
        let mut forms = Vec::new();
        if message.method() == Some("elicitation/create") {
            forms.push((
                "/params/requestedSchema/properties".to_owned(),
                message.value.pointer("/params/requestedSchema/properties"),
            ));
        }
        for (key, request) in
            message.value.pointer("/result/inputRequests").and_then(Value::as_object).into_iter().flatten()
        {
            forms.push((
                format!("/result/inputRequests/{key}/params/requestedSchema/properties"),
                request.pointer("/params/requestedSchema/properties"),
            ));
        }
        for (at, form) in forms {
            for (name, _) in form.and_then(Value::as_object).into_iter().flatten() {
                if SECRET.iter().any(|word| name.to_lowercase().contains(word)) {
                    let text = format!("a form asks for `{name}`");
                    findings.push(
                        Finding::new(text)
                            .about(name)
                            .at(message.frame, message.pointer(&format!("{at}/{name}"))),
                    );
                }
            }
        }
    }
    Ok(findings)
}
