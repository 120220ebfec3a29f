//! `closed-stream`: a call whose stream was closed does not block later requests.

use crate::{
    probes::{CANCELLED_CALLS, CLOSED_AFTER_STEP, CLOSED_CALL_STEP, LISTS, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "closed-stream",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "a call whose stream was closed does not block later requests",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Cancellation"),
    why: "Closing the stream is how a client cancels; a server that goes on wastes work and blocks other requests.",
    fix: "Treat the end of the response stream as the cancellation of its request, and stop the work.",
    needs: &[&LISTS, &TOOL_CALLS, &CANCELLED_CALLS],
    check: Check::Server(check),
};

/// A delay of at least this percentage of the call's remaining time counts as waiting for it.
const WAITED: u128 = 70;

fn check(case: &Case<'_>) -> Verdict {
    let Some(call) = case.asked(CLOSED_CALL_STEP).next() else {
        return Err(Skip::not_verified("no tool that may be called takes long enough to close its stream"));
    };
    if call.answer().is_some() {
        return Err(Skip::not_verified("the call was answered before its stream could be closed"));
    }
    let after = case.first(&CANCELLED_CALLS, CLOSED_AFTER_STEP)?;
    let left: u128 = after.variant().parse().unwrap_or(u128::MAX);
    let waited = after.took().as_millis();
    if after.answer().is_none() || waited * 100 >= left.saturating_mul(WAITED) {
        let message = "the next request waits until the abandoned call is done";
        return Ok(vec![after.finding(message, "").about(call.variant()).with_frames(call.sent_ref())]);
    }
    Ok(Vec::new())
}
