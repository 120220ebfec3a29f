//! `json-spelling`: any spelling of the same JSON is understood.

use crate::{
    evidence::Settled,
    probes::{JSON_SPELLING, JSON_SPELLING_STEP, LISTS},
    rules::{plain_fails, prelude::*},
};

pub(super) static RULE: Rule = Rule {
    name: "json-spelling",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a request is understood in every spelling of its JSON: order, white space, escapes",
    clause: Clause::practice("RFC 8259", "4 Objects"),
    why: "Clients write JSON as their library does; a server that searches the text works with one of them only.",
    fix: "Parse messages with a JSON parser, and look members up by name.",
    needs: &[&LISTS, &JSON_SPELLING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&JSON_SPELLING, JSON_SPELLING_STEP)?;
    plain_fails(case)?;
    let failed = all.into_iter().filter(|asked| {
        let silent = matches!(asked.settled(), Settled::Silent(_) | Settled::Gone);
        asked.error().is_some() || silent
    });
    let finding = |asked: Asked<'_>| {
        let message = format!("a request with {} fails: {}", asked.variant(), asked.describe());
        asked.finding(message, "").about(asked.variant())
    };
    Ok(failed.map(finding).collect())
}
