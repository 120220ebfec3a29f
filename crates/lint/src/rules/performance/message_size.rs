//! `message-size`: messages have a size that peers accept.

use crate::{
    evidence::{Direction, FrameRef},
    probes::{LARGE_CALL_STEP, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "message-size",
    group: Group::Performance,
    level: Level::Warning,
    summary: "no message of the server is larger than 1 MiB",
    clause: Clause::practice("client limits", "time"),
    why: "SDKs refuse messages beyond a few megabytes, and everything that reads one has to hold all of it.",
    fix: "Send a link to a resource, or pages.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 1024 * 1024;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut seen = false;
    for (line, record) in case.lines() {
        // A large answer to a large request may merely echo it.
        let provoked = |frame: usize| {
            let mut large = record.exchanges.iter().filter(|exchange| exchange.step == LARGE_CALL_STEP);
            large.any(|exchange| exchange.got.contains(&frame))
        };
        for (number, frame) in record.frames.iter().enumerate() {
            if frame.direction != Direction::Received {
                continue;
            }
            seen = true;
            if frame.length > MOST && !provoked(number) && findings.is_empty() {
                let message = format!("a message has {} bytes", frame.length);
                findings.push(Finding::new(message).with_frame(FrameRef { line, frame: number }));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&LISTS)) }
}
