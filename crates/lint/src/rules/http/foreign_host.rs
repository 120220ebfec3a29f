//! `foreign-host`: a server on loopback refuses requests for a foreign `Host`.

use super::is_local;
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
    carriers: Carriers::StreamableHttp,
    summary: "a server on loopback refuses requests for a foreign `Host`",
    clause: Clause::of("2025-11-25", "basic/transports", "Security Warning"),
    why: "By DNS rebinding a web page reaches the server under its own name; only the `Host` header gives it away then.",
    fix: "Serve only requests whose `Host` is `localhost`, `127.0.0.1` or `[::1]`, and answer 403 or 421 to others.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if !is_local(case) {
        return Err(Skip::not_applicable("the server is not on loopback"));
    }
    let asked = case.first(&FOREIGN_ORIGIN, FOREIGN_HOST_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() {
        return Ok(vec![asked.finding("a request with `Host: evil.example` was served", "")]);
    }
    Ok(Vec::new())
}
