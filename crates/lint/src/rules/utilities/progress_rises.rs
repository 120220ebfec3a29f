//! `progress-rises`: progress rises with every notification.

use super::notifications;
use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    name: "progress-rises",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    summary: "progress rises with every notification",
    clause: Clause::of("2025-11-25", "basic/utilities/progress", "Progress Flow"),
    why: "The progress bar jumps back or stops, and clients that extend their timeout on progress give up.",
    fix: "Send a greater `progress` each time, also when the total is not known.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    let messages = notifications(case, "notifications/progress");
    if messages.is_empty() {
        return Err(Skip::not_verified("no tool reported progress"));
    }
    let mut compared = false;
    for message in messages {
        let params = &message.value["params"];
        let Some(now) = params["progress"].as_f64() else {
            let text = format!("`progress` is {}, not a number", params["progress"]);
            return Ok(vec![Finding::new(text).at(message.frame, message.pointer("/params"))]);
        };
        let before = last.insert(format!("{} {}", message.frame.line, params["progressToken"]), now);
        compared |= before.is_some();
        if let Some(before) = before.filter(|before| now <= *before) {
            let text = format!("progress went from {before} to {now}");
            return Ok(vec![Finding::new(text).at(message.frame, message.pointer("/params/progress"))]);
        }
    }
    if compared {
        Ok(Vec::new())
    } else {
        Err(Skip::not_verified("no call reported progress more than once"))
    }
}
