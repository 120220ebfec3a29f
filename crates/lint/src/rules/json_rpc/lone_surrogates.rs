//! `lone-surrogates`: text is whole Unicode.

use crate::{
    evidence::{Direction, FrameRef},
    probes::{INTRODUCTION, LISTS, RESOURCE_READS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "lone-surrogates",
    group: Group::JsonRpc,
    level: Level::Error,
    summary: "no text contains half of a surrogate pair",
    clause: Clause::practice("RFC 8259", "8.2 Unicode Characters"),
    why: "Strict parsers refuse the whole message: one cut emoji makes a list or a result unreadable.",
    fix: "Cut text between characters and not between UTF-16 units, and replace what is no character.",
    needs: &[&INTRODUCTION, &LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let frames = case.lines().flat_map(|(line, record)| {
        record.frames.iter().enumerate().map(move |(frame, it)| (FrameRef { line, frame }, it))
    });
    let mut received = frames.filter(|(_, frame)| frame.direction != Direction::Sent).peekable();
    if received.peek().is_none() {
        return Err(Skip::no_message());
    }
    let found = received.find(|(_, frame)| frame.has_lone_surrogate());
    let text = "a text contains an escape of half a surrogate pair, which stands for no character";
    Ok(found.map(|(at, _)| Finding::new(text).with_frame(at)).into_iter().collect())
}
