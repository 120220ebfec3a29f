//! `large-argument`: an argument of a megabyte or a thousand levels neither crashes nor blocks the
//! server.

use crate::{
    probes::{
        DEEP_CALL_AFTER, INJECTIONS, LARGE_CALL_AFTER, LARGE_CALL_STEP, LISTS, TOOL_CALL_STEP, TOOL_CALLS,
    },
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "large-argument",
    group: Group::Security,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "an argument of a megabyte or of a thousand levels neither ends nor blocks the server",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "One call, made by mistake or on purpose, makes the server unavailable to all its users.",
    fix: "Bound the length and depth of arguments in the schema and in the code, and refuse what is longer.",
    needs: &[&LISTS, &TOOL_CALLS, &INJECTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let Some(asked) = case.asked(LARGE_CALL_STEP).next() else {
        return Err(Skip::not_verified("no tool that may be called takes a text"));
    };
    let slow = |call: Asked<'_>| call.variant() == asked.variant() && call.answer().is_none();
    if case.asked(TOOL_CALL_STEP).any(slow) {
        return Err(Skip::not_verified("the tool takes too long with plain arguments already"));
    }
    let after = case.first(&INJECTIONS, LARGE_CALL_AFTER)?;
    if after.answer().is_none() {
        let message = format!("after a megabyte of text the server no longer answers: {}", after.describe());
        return Ok(vec![after.finding(message, "").about(asked.variant())]);
    }
    let deep = case.asked(DEEP_CALL_AFTER).next().filter(|after| after.answer().is_none());
    let Some(after) = deep else { return Ok(Vec::new()) };
    let message =
        format!("after a thousand lists in lists the server no longer answers: {}", after.describe());
    Ok(vec![after.finding(message, "").about(asked.variant())])
}
