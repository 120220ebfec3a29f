//! `one-line-messages`: a message is one line.

use crate::{
    evidence::{Direction, Evidence, Frame, FrameRef},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "one-line-messages",
    group: Group::Stdio,
    level: Level::Error,
    carriers: Carriers::Stdio,
    summary: "every message is one line",
    clause: Clause::of("2026-07-28", "basic/transports/stdio", ""),
    why: "Clients read line by line: a message over several lines is several broken ones.",
    fix: "Write JSON without line breaks (no pretty printing), and end it with one newline.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Target(check),
    ..Rule::USUAL
};

/// Maximum number of lines of a multi-line message that is recognised.
const MOST_LINES: usize = 500;

fn check(evidence: &Evidence) -> Verdict {
    for (index, line) in evidence.lines.iter().enumerate() {
        if let Some((first, count)) = spread(&line.frames) {
            let message = format!("a message is spread over {count} lines");
            let frames = (first..first + count.min(4)).map(|frame| FrameRef { line: index, frame });
            return Ok(vec![Finding::new(message).with_frames(frames)]);
        }
    }
    if evidence.lines.iter().all(|line| line.frames.is_empty()) {
        return Err(Skip::not_verified("the server sent nothing"));
    }
    Ok(Vec::new())
}

/// The first run of lines that form a message only together.
fn spread(frames: &[Frame]) -> Option<(usize, usize)> {
    for (first, frame) in frames.iter().enumerate() {
        let opens = frame.bytes.trim_ascii_start().starts_with(b"{")
            || frame.bytes.trim_ascii_start().starts_with(b"[");
        if frame.direction != Direction::Noise || !opens {
            continue;
        }
        let mut joined = Vec::new();
        for (count, frame) in frames[first..].iter().enumerate().take(MOST_LINES) {
            // Received lines are included: a single line of the message may be valid JSON.
            if frame.direction == Direction::Sent {
                break;
            }
            joined.extend_from_slice(&frame.bytes);
            joined.push(b'\n');
            if count > 0 && serde_json::from_slice::<serde::de::IgnoredAny>(&joined).is_ok() {
                return Some((first, count + 1));
            }
        }
    }
    None
}
