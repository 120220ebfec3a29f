//! `response-shape`: a response has either a result or an error.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "response-shape",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "a response has a `result` or an `error`, and not both",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "Clients disagree on which of the two counts, so that a call fails in one and succeeds in another.",
    fix: "Leave the other member out entirely; `\"error\": null` is a member, too.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen = false;
    for message in case.responses() {
        seen = true;
        let (result, error) = (message.value.get("result"), message.value.get("error"));
        let text = match (result, error) {
            (Some(_), Some(_)) => "the response has both `result` and `error`",
            (None, None) => "the response has neither `result` nor `error`",
            _ => continue,
        };
        if findings.iter().all(|known| known.message != text) {
            findings.push(Finding::new(text).at(message.frame, message.pointer("")));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("the server sent no response")) }
}
