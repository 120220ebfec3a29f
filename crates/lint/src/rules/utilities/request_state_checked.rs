//! `request-state-checked`: a state that was changed on the way is refused.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, REQUEST_STATE, REQUEST_STATE_STEP, TOOL_CALLS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "request-state-checked",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    summary: "a state that was changed on the way is refused",
    clause: Clause::of("2026-07-28", "basic/patterns/mrtr", "Server Requirements (Basic Workflow)"),
    why: "The state comes back from the client, who can write into it what he likes: another user, another amount, a skipped step.",
    fix: "Sign the state, bind it to the caller and the request, and refuse it when the signature does not fit.",
    needs: &[&LISTS, &TOOL_CALLS, &REQUEST_STATE],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let Some(asked) = case.asked(REQUEST_STATE_STEP).next() else {
        return Err(Skip::not_verified("no call was answered with a state"));
    };
    match asked.result() {
        Some(result) if result["resultType"] == "complete" && result["isError"] != true => {
            Ok(vec![asked.finding("a call with an altered `requestState` was served", "/result").about(asked.variant())])
        }
        Some(_) => Ok(Vec::new()),
        None if asked.error().is_some() => Ok(Vec::new()),
        None => Err(Skip::not_verified(asked.describe())),
    }
}
