//! `header-encoding`: an `Mcp-Name` in base64 is understood.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{HEADER_ENCODED_STEP, HTTP_HEADERS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "header-encoding",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "an `Mcp-Name` in base64 is understood",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Value encoding"),
    why: "Names and addresses beyond ASCII travel encoded; a server that does not decode them refuses every call of such a tool.",
    fix: "Take a value of the form `=?base64?…?=` as base64 of the UTF-8 text before comparing it with the body.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&HTTP_HEADERS, HEADER_ENCODED_STEP)?;
    if asked.error_code() == Some(-32020) {
        let message = "a right `Mcp-Name` in base64 is taken for a mismatch";
        return Ok(vec![asked.finding(message, "/error/code")]);
    }
    if asked.answer().is_none() {
        return Err(Skip::not_verified(asked.describe()));
    }
    Ok(Vec::new())
}
