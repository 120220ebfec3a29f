//! `cross-origin-open`: a server without authorization lets no foreign page read its answers.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "cross-origin-open",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "a server without authorization lets no foreign page read its answers",
    clause: Clause::of("2025-11-25", "basic/transports", "Security Warning"),
    why: "With `Access-Control-Allow-Origin: *` every page the user visits can call tools and read what they return.",
    fix: "Name the allowed origins in `Access-Control-Allow-Origin`, or leave the header out.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    let Some(allowed) = http.header("access-control-allow-origin") else { return Ok(Vec::new()) };
    if http.is_success() && matches!(allowed, "*" | "http://evil.example") {
        let message = format!("the answer to a foreign page has `Access-Control-Allow-Origin: {allowed}`");
        return Ok(vec![asked.finding(message, "")]);
    }
    Ok(Vec::new())
}
