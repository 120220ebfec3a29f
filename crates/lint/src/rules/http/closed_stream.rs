//! `closed-stream`: a call whose stream was closed keeps nobody waiting.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{CANCELLED_CALLS, CLOSED_AFTER_STEP, CLOSED_CALL_STEP, LISTS, TOOL_CALLS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "closed-stream",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a call whose stream was closed keeps nobody waiting",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Cancellation"),
    why: "Closing the stream is how a client cancels; a server that works on blocks others, and does what nobody wants any more.",
    fix: "Treat the end of the response stream as the cancellation of its request, and stop the work.",
    needs: &[&LISTS, &TOOL_CALLS, &CANCELLED_CALLS],
    check: Check::Server(check),
};

/// The part of the call's time, in percent, that counts as waiting for it.
const WAITED: u128 = 70;

fn check(case: &Case<'_>) -> Verdict {
    let Some(call) = case.asked(CLOSED_CALL_STEP).next() else {
        return Err(Skip::not_verified("no tool that may be called takes long enough to be left"));
    };
    if call.answer().is_some() {
        return Err(Skip::not_verified("the call was answered before its stream could be closed"));
    }
    let after = case.first(&CANCELLED_CALLS, CLOSED_AFTER_STEP)?;
    let left: u128 = after.variant().parse().unwrap_or(u128::MAX);
    let waited = after.took().as_millis();
    if after.answer().is_none() || waited * 100 >= left.saturating_mul(WAITED) {
        let message = "the next request has to wait until the call is done that nobody listens to any more";
        return Ok(vec![after.finding(message, "").about(call.variant()).with_frames(call.sent_ref())]);
    }
    Ok(Vec::new())
}
