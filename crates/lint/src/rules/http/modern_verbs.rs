//! `modern-verbs`: modern GET and DELETE are refused with 405.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{DELETE_STEP, GET_STEP, HTTP_VERBS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "modern-verbs",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "modern GET and DELETE are refused with 405",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "HTTP methods"),
    why: "A client of the modern era that is served a stream or the end of a session believes in state that the era does not have.",
    fix: "Answer GET and DELETE that carry the modern `MCP-Protocol-Version` with HTTP 405.",
    needs: &[&HTTP_VERBS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in [case.first(&HTTP_VERBS, GET_STEP)?, case.first(&HTTP_VERBS, DELETE_STEP)?] {
        let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
        let verb = http.request.split([',', ' ']).next().unwrap_or_default();
        if http.is_success() {
            findings.push(asked.finding(format!("it is served with HTTP {}", http.status), "").about(verb));
        } else if http.status != 405 {
            let message = format!("it is refused with HTTP {} instead of 405", http.status);
            findings.push(asked.finding(message, "").about(verb).level(Level::Info));
        }
    }
    Ok(findings)
}
