//! `older-revision`: an agreed revision is served.

use crate::{
    probes::{HTTP_HEADERS, OLDER_REVISION_AFTER, OLDER_REVISION_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "older-revision",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a client that agreed on an older revision is served with that revision in its header",
    clause: Clause::of("2025-11-25", "basic/transports", "Protocol Version Header"),
    why: "The handshake of a client that is not quite new succeeds, and everything after it fails.",
    fix: "Accept in `MCP-Protocol-Version` every revision that `initialize` agrees on.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let begun = case.first(&HTTP_HEADERS, OLDER_REVISION_STEP)?;
    let Some(asked) = case.asked(OLDER_REVISION_AFTER).next() else {
        let why = format!("the server does not agree on an older revision: {}", begun.describe());
        return Err(Skip::not_applicable(why));
    };
    if asked.lives() {
        return Ok(Vec::new());
    }
    let version = begun.result().map_or("", |result| result["protocolVersion"].as_str().unwrap_or_default());
    let message =
        format!("`initialize` agreed on {version}, and the next request fails: {}", asked.describe());
    Ok(vec![asked.finding(message, "")])
}
