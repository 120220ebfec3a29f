//! `header-case`: header names are accepted in any case.

use crate::{
    probes::{HEADER_CASE, HEADER_CASE_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "header-case",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "the names of headers are taken in any case",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Case Sensitivity"),
    why: "Clients and proxies write the names as they like; what works with one of them fails behind another.",
    fix: "Compare the names of headers without regard to case, or let the HTTP library do so.",
    needs: &[&HEADER_CASE],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let seen = case.lines().find_map(|(_, line)| line.observed(HEADER_CASE_STEP).next());
    let line = seen.ok_or_else(|| case.missing(&HEADER_CASE))?;
    let served = line.split_whitespace().nth(1).is_some_and(|status| status.starts_with('2'));
    if served {
        return Ok(Vec::new());
    }
    let message = "a plain request with `MCP-METHOD` and `MCP-PROTOCOL-VERSION` in capitals is not served";
    Ok(vec![Finding::new(message).note(format!("the answer begins with {line:?}"))])
}
