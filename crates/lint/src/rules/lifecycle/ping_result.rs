//! `ping-result`: a ping is answered with an empty result.

use crate::{
    probes::{PING, PING_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "ping-result",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "`ping` is answered promptly with an empty result",
    clause: Clause::of("2025-11-25", "basic/utilities/ping", "Behavior Requirements"),
    why: "Clients ping to see whether a server lives, and close the connection when it does not answer.",
    fix: "Answer `ping` at once with `\"result\": {}`.",
    needs: &[&PING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&PING, PING_STEP)?;
    let Some(result) = asked.result() else {
        return Ok(vec![asked.finding(format!("`ping` should be answered, but {}", asked.describe()), "")]);
    };
    let extra = result.as_object().is_none_or(|members| members.keys().any(|name| name != "_meta"));
    if extra {
        return Ok(vec![asked.finding("the result of `ping` is not empty", "/result")]);
    }
    Ok(Vec::new())
}
