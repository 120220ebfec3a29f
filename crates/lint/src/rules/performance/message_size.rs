//! `message-size`: messages are of a size that peers take.

use crate::{
    evidence::{Case, Direction, FrameRef, Line},
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "message-size",
    group: Group::Performance,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no message of the server is larger than 1 MiB",
    clause: Clause::practice("client limits", "time"),
    why: "SDKs refuse messages beyond a few megabytes, and everything that reads one has to hold all of it.",
    fix: "Send a link to a resource, or pages.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const MOST: usize = 1024 * 1024;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut seen = false;
    for (line, record) in case.lines() {
        for (number, frame) in record.frames.iter().enumerate() {
            if frame.direction != Direction::Received {
                continue;
            }
            seen = true;
            if frame.length > MOST && findings.is_empty() && !is_echo(record, number) {
                let message = format!("a message has {} bytes", frame.length);
                findings.push(Finding::new(message).with_frame(FrameRef { line, frame: number }));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&LISTS)) }
}

/// Whether a message answers one that was about as large, and had to be.
fn is_echo(line: &Line, number: usize) -> bool {
    let answered = line.exchanges.iter().find(|exchange| exchange.answer == Some(number));
    let sent = answered.and_then(|exchange| line.frames.get(exchange.sent?));
    sent.is_some_and(|sent| sent.length > MOST / 2)
}
