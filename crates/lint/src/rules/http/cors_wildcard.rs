//! `cors-wildcard`: CORS does not allow every web page to read the answers.

use crate::{
    probes::{FOREIGN_ORIGIN, INTRODUCTION},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "cors-wildcard",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::Http,
    summary: "a server without authorization does not allow every origin (CORS `*`)",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Security & Endpoint"),
    why: "`Access-Control-Allow-Origin: *` lets any web page read what the tools of a local server return.",
    fix: "Name the allowed origins, or leave the header out.",
    needs: &[&INTRODUCTION, &FOREIGN_ORIGIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = false;
    for (index, line) in case.lines() {
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            let Some(http) = asked.http() else { continue };
            seen = true;
            let allowed = http.header("access-control-allow-origin");
            if allowed == Some("*") || allowed == Some("http://evil.example") {
                let message = format!("the answer allows the origin `{}`", allowed.unwrap_or_default());
                return Ok(vec![asked.finding(message, "")]);
            }
        }
    }
    if seen { Ok(Vec::new()) } else { Err(Skip::not_verified("there is no HTTP answer")) }
}
