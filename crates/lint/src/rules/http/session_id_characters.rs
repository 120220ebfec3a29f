//! `session-id-characters`: a session id consists of visible ASCII characters.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::INTRODUCTION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-id-characters",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a session id consists of visible ASCII characters",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "Clients and proxies refuse or mangle other characters in a header, and the session is lost after the handshake.",
    fix: "Use a UUID or another random text of letters and digits as the session id.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| Skip::not_verified("there is no handshake"))?;
    let session = introduced.http().and_then(|head| head.header("mcp-session-id"));
    let session = session.ok_or_else(|| Skip::not_applicable("the server begins no session"))?;
    if session.is_empty() {
        return Ok(vec![introduced.finding("the session id is empty", "")]);
    }
    let bad = session.chars().find(|c| !c.is_ascii_graphic());
    Ok(bad
        .map(|bad| {
            let message = format!("the session id has the character {bad:?}");
            introduced.finding(message, "").note(format!("mcp-session-id: {session:?}"))
        })
        .into_iter()
        .collect())
}
