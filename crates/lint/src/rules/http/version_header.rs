//! `version-header`: an unsupported `MCP-Protocol-Version` is refused with 400.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{HTTP_HEADERS, VERSION_HEADER_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "version-header",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "an unsupported `MCP-Protocol-Version` is refused with 400",
    clause: Clause::of("2025-11-25", "basic/transports", "Protocol Version Header"),
    why: "A client of another revision is served by rules it does not know, and fails later at a place that says nothing.",
    fix: "Compare the header with the revisions the server speaks, and answer HTTP 400 to others.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&HTTP_HEADERS, VERSION_HEADER_STEP)?;
    let asked = all.iter().find(|asked| asked.variant() == "unsupported");
    let asked = asked.ok_or_else(|| case.missing(&HTTP_HEADERS))?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    Ok(match http.status {
        400 => Vec::new(),
        200..300 => vec![asked.finding("a request with `MCP-Protocol-Version: 1999-01-01` was served", "")],
        status => {
            let message = format!("an unsupported version is refused with HTTP {status} instead of 400");
            vec![asked.finding(message, "").level(Level::Warning)]
        }
    })
}
