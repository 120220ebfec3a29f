//! `answer-type`: answers are JSON or an event stream.

use super::{coding, cut_short};
use crate::{
    evidence::Direction,
    probes::{INTRODUCTION, LISTS, PREFLIGHT_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "answer-type",
    group: Group::Http,
    level: Level::Error,
    carriers: Carriers::StreamableHttp,
    summary: "the answer to a request is `application/json` or `text/event-stream`",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Sending Messages"),
    why: "Clients decide by the type how to read the answer, and refuse any other.",
    fix: "Set `Content-Type` to one of the two.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = false;
    for (index, line) in case.lines() {
        // A preflight is no request of the protocol.
        for exchange in line.exchanges.iter().filter(|it| it.step != PREFLIGHT_STEP) {
            let asked = Asked::new(case.evidence(), index, exchange);
            let Some(http) = asked.http().filter(|http| http.is_success() && !http.body.is_empty()) else {
                continue;
            };
            seen = true;
            let media = http.media().unwrap_or_default();
            if media != "application/json" && media != "text/event-stream" {
                let message = format!("the answer is of type `{media}`");
                return Ok(vec![asked.finding(message, "")]);
            }
            // `content-length` and `content-encoding` report these.
            if cut_short(&asked).is_some() || coding(http).is_some() {
                continue;
            }
            let other = asked.frames().into_iter().find(|at| {
                case.evidence().frame(*at).is_some_and(|frame| frame.direction == Direction::Noise)
            });
            if media == "application/json"
                && let Some(at) = other
            {
                return Ok(vec![
                    asked.finding("the answer says that it is JSON, and is none", "").with_frame(at),
                ]);
            }
        }
    }
    if seen { Ok(Vec::new()) } else { Err(Skip::not_verified("there is no HTTP answer")) }
}
