//! `responses-ignored`: a response that nobody waits for does no harm.

use crate::{
    evidence::Message,
    probes::{CLIENT_RESPONSE, CLIENT_RESPONSE_AFTER, CLIENT_RESPONSE_STEP, NO_REQUEST},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "responses-ignored",
    group: Group::JsonRpc,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "a response to no request of the server is ignored",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "Late answers to a cancelled question are normal; an answer to an answer confuses the client, and a crash ends all calls.",
    fix: "Drop a message with `result` or `error` whose id is not waited for.",
    needs: &[&CLIENT_RESPONSE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&CLIENT_RESPONSE, CLIENT_RESPONSE_STEP)?;
    let after = case.first(&CLIENT_RESPONSE, CLIENT_RESPONSE_AFTER)?;
    if !after.lives() {
        let message =
            format!("after a response that nobody waits for, a request fails: {}", after.describe());
        return Ok(vec![after.finding(message, "").level(Level::Error).with_frames(asked.sent_ref())]);
    }
    let messages = case.messages();
    // Over HTTP the refusal of a message may have a body.
    let refused = asked.http().is_some_and(|http| !http.is_success());
    let answers =
        |it: &&Message<'_>| it.is_response() && it.value.get("id").is_some_and(|id| id == NO_REQUEST);
    let found = messages.iter().find(answers).filter(|_| !refused).map(|answer| {
        Finding::new("a response is answered like a request").at(answer.frame, answer.pointer(""))
    });
    Ok(found.map(|finding| finding.with_frames(asked.sent_ref())).into_iter().collect())
}
