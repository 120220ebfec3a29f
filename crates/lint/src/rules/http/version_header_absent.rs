//! `version-header-absent`: a request without `MCP-Protocol-Version` is served as revision
//! 2025-03-26.

use crate::{
    probes::{HTTP_HEADERS, VERSION_HEADER_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "version-header-absent",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a request without `MCP-Protocol-Version` is taken for one of 2025-03-26 and served",
    clause: Clause::of("2025-11-25", "basic/transports", "Protocol Version Header"),
    why: "Clients from before the header existed cannot use the server.",
    fix: "Treat a missing header as `2025-03-26`, or take the revision from the session.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&HTTP_HEADERS, VERSION_HEADER_STEP)?;
    let asked = all.iter().find(|asked| asked.variant() == "absent");
    let asked = asked.ok_or_else(|| case.missing(&HTTP_HEADERS))?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding(format!("a request without `MCP-Protocol-Version` gets HTTP {}", http.status), "")])
}
