//! `error-shape`: errors have an integer code and a message.

use crate::{
    probes::{INTRODUCTION, UNKNOWN_METHOD},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "error-shape",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "every error has an integer `code` and a string `message`",
    clause: Clause::of("2026-07-28", "basic", "Error Responses"),
    why: "An error that cannot be read is shown to the user as a crash of the client instead of what went wrong.",
    fix: "Send errors as `{\"code\": <integer>, \"message\": <string>}`; put anything else into `data`.",
    needs: &[&INTRODUCTION, &UNKNOWN_METHOD],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = false;
    let mut findings: Vec<Finding> = Vec::new();
    for message in case.responses() {
        let Some(error) = message.value.get("error").filter(|error| !error.is_null()) else { continue };
        seen = true;
        let wrong = if !error.is_object() {
            Some(("the error is not an object", "/error"))
        } else if error.get("code").is_none_or(|code| code.as_i64().is_none()) {
            Some(("the error has no integer `code`", "/error/code"))
        } else if !error.get("message").is_some_and(serde_json::Value::is_string) {
            Some(("the error has no string `message`", "/error/message"))
        } else {
            None
        };
        if let Some((text, pointer)) = wrong
            && findings.iter().all(|known| known.message != text)
        {
            findings.push(Finding::new(text).at(message.frame, message.pointer(pointer)));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("the server sent no error")) }
}
