//! `request-state-checked`: a modified request state is refused.

use crate::{
    probes::{LISTS, REPLAYED_STATE_STEP, REQUEST_STATE, REQUEST_STATE_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "request-state-checked",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    summary: "a state that was changed on the way, or belongs to another call, is refused",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", "Server Requirements (Basic Workflow)"),
    why: "The state comes back from the client, which can change it: another user, another amount, a skipped step.",
    fix: "Sign the state, bind it to the caller and the request, and refuse it when the signature does not fit.",
    needs: &[&LISTS, &TOOL_CALLS, &REQUEST_STATE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let Some(asked) = case.asked(REQUEST_STATE_STEP).next() else {
        return Err(Skip::not_verified("no call was answered with a state"));
    };
    if asked.answer().is_none() {
        return Err(Skip::not_verified(asked.describe()));
    }
    let served = |asked: &Asked<'_>| {
        asked.result().is_some_and(|result| result["resultType"] == "complete" && result["isError"] != true)
    };
    if served(&asked) {
        let message = "a call with an altered `requestState` was served";
        return Ok(vec![asked.finding(message, "/result").about(asked.variant())]);
    }
    let replayed = case.asked(REPLAYED_STATE_STEP).find(served);
    let finding = replayed.map(|asked| {
        let message = "a `requestState` was taken with other arguments than those it was given for";
        asked.finding(message, "/result").about(asked.variant()).level(Level::Warning)
    });
    Ok(finding.into_iter().collect())
}
