//! `call-time`: tool calls are answered quickly.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "call-time",
    group: Group::Performance,
    level: Level::Info,
    mode: Mode::Active,
    summary: "a call with plain arguments is answered within 2 seconds, or reports progress",
    clause: Clause::practice("client limits", "time"),
    why: "The conversation stands still during a call; clients give up after a minute or less.",
    fix: "Report progress, run long work as a task, or split it into a start and a poll.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SLOW: Duration = Duration::from_secs(2);

fn check(case: &Case<'_>) -> Verdict {
    let calls = case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    // A slow call is acceptable if it reports progress.
    let progresses = |asked: &Asked<'_>| {
        asked.got().iter().any(|message| message.method() == Some("notifications/progress"))
    };
    let slow = calls.into_iter().filter(|asked| asked.took() > SLOW && !progresses(asked));
    let tell = |asked: Asked<'_>| {
        let how = if asked.answer().is_some() { "was answered after" } else { "was not answered in" };
        let message = format!("a call {how} {:.1} s", asked.took().as_secs_f64());
        asked.finding(message, "").about(format!("tool {}", asked.variant()))
    };
    Ok(slow.map(tell).collect())
}
