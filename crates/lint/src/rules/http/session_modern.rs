//! `session-modern`: answers of the modern era carry no session id.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-modern",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "answers of the modern era carry no session id",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Earlier revisions"),
    why: "The modern era has no sessions; clients and proxies that see an id keep state that means nothing, or refuse the answer.",
    fix: "Send `Mcp-Session-Id` only in the answer to `initialize`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    // Only what a modern client would send: a request whose header or `_meta` lacks may be taken for a legacy one.
    let introduced = case.introduced().ok_or_else(|| Skip::not_verified("there is no introduction"))?;
    let lists = List::ALL.into_iter().flat_map(|list| case.asked(list.step()));
    let minted = std::iter::once(introduced)
        .chain(lists)
        .find(|asked| asked.http().is_some_and(|head| head.header("mcp-session-id").is_some()));
    Ok(minted.map(|asked| asked.finding("an answer to a modern request has an `Mcp-Session-Id`", "")).into_iter().collect())
}
