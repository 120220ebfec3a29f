//! `input-undeclared`: a server asks only for input that the client has declared to give.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "input-undeclared",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    summary: "a server asks only for input that the client has declared to give",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", "Server Requirements (Basic Workflow)"),
    why: "The client cannot answer, and the call can never be finished; the error -32021 would have told it why.",
    fix: "Look at `clientCapabilities` of the request; answer -32021 where a needed capability lacks.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    // The calls declare no capability at all.
    let calls = case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let asking = calls.into_iter().filter(|asked| {
        asked.result().is_some_and(|result| {
            result["resultType"] == "input_required"
                && result["inputRequests"].as_object().is_some_and(|requests| !requests.is_empty())
        })
    });
    Ok(asking
        .map(|asked| {
            let message = "a call asks for input, and the client declared no capability to give it";
            asked.finding(message, "/result/inputRequests").about(asked.variant())
        })
        .collect())
}
