//! `foreign-host`: a loopback server refuses a foreign `Host` header.

use crate::{
    evidence::HttpHead,
    probes::{FOREIGN_HOST_STEP, FOREIGN_ORIGIN},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "foreign-host",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::Http,
    summary: "a server on this machine refuses requests for a foreign `Host`",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Security & Endpoint"),
    why: "With DNS rebinding a web page reaches the server under the page's own name, past the browser's protection.",
    fix: "Compare the `Host` header with the names and addresses the server is meant to have.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    if !case.evidence().is_local() {
        return Err(Skip::not_applicable("the server is not on this machine"));
    }
    let all = case.all(&FOREIGN_ORIGIN, FOREIGN_HOST_STEP)?;
    if all.iter().all(|asked| asked.http().is_none()) {
        return Err(Skip::not_verified(all[0].describe()));
    }
    let served = all.iter().find(|asked| asked.http().is_some_and(HttpHead::is_success));
    let finding = served
        .map(|asked| asked.finding(format!("a request for the host `{}` was served", asked.variant()), ""));
    Ok(finding.into_iter().collect())
}
