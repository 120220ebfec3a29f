//! `foreign-host`: a loopback server refuses a foreign `Host` header.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{FOREIGN_HOST_STEP, FOREIGN_ORIGIN},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "foreign-host",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Http,
    summary: "a server on this machine refuses requests for a foreign `Host`",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Security & Endpoint"),
    why: "With DNS rebinding a web page reaches the server under the page's own name, past the browser's protection.",
    fix: "Compare the `Host` header with the names and addresses the server is meant to have.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if !case.evidence().is_local() {
        return Err(Skip::not_applicable("the server is not on this machine"));
    }
    let asked = case.first(&FOREIGN_ORIGIN, FOREIGN_HOST_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() {
        return Ok(vec![asked.finding("a request for the host `evil.example` was served", "")]);
    }
    Ok(Vec::new())
}
