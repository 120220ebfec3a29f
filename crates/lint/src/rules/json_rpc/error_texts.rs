//! `error-texts`: error messages are meaningful.

use crate::{
    probes::{UNKNOWN_METHOD, UNKNOWN_TOOL},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "error-texts",
    group: Group::JsonRpc,
    level: Level::Info,
    mode: Mode::Negative,
    summary: "the message of an error is a short text that is not empty",
    clause: Clause::of("2026-07-28", "basic", "Error Responses"),
    why: "Users and models see this text; an empty one, or a page of stack trace, tells them nothing they can act on.",
    fix: "Write one sentence; put details into `data`.",
    needs: &[&UNKNOWN_METHOD, &UNKNOWN_TOOL],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Maximum length of an error message.
const LONGEST: usize = 1000;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::<Finding>::new(), false);
    for message in case.responses() {
        let Some(text) = message.value.pointer("/error/message").and_then(serde_json::Value::as_str) else {
            continue;
        };
        seen = true;
        let wrong = if text.trim().is_empty() {
            "the message of an error is empty"
        } else if text.len() > LONGEST {
            "the message of an error is longer than 1000 bytes"
        } else {
            continue;
        };
        if findings.iter().all(|known| known.message != wrong) {
            findings.push(Finding::new(wrong).at(message.frame, message.pointer("/error/message")));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("the server sent no error")) }
}
