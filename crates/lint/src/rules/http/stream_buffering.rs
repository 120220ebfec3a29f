//! `stream-buffering`: event streams tell proxies not to buffer them.

use super::exchanges;
use crate::{
    evidence::HttpHead,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "stream-buffering",
    group: Group::Http,
    level: Level::Info,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "event streams tell proxies not to hold them back",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Receiving Messages"),
    why: "Common proxies collect a stream and pass it on at its end, so that progress comes when the work is done.",
    fix: "Send `X-Accel-Buffering: no` with event streams.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let all = exchanges(case)?;
    let stream =
        |asked: &&Asked<'_>| asked.http().and_then(HttpHead::media).as_deref() == Some("text/event-stream");
    let Some(asked) = all.iter().find(stream) else {
        return Err(Skip::not_applicable("the server sent no event stream"));
    };
    let header = asked.http().and_then(|http| http.header("x-accel-buffering"));
    if header.is_some_and(|value| value.eq_ignore_ascii_case("no")) {
        return Ok(Vec::new());
    }
    Ok(vec![asked.finding("an event stream comes without `X-Accel-Buffering: no`", "")])
}
