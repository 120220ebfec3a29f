//! `utf8-output`: messages are UTF-8 without a byte order mark.

use crate::{
    evidence::{Direction, Evidence, FrameRef},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "utf8-output",
    group: Group::Stdio,
    level: Level::Error,
    carriers: Carriers::Stdio,
    summary: "everything on standard output is UTF-8 and begins without a byte-order mark",
    clause: Clause::of("2026-07-28", "basic/transports", "Messages"),
    why: "Clients refuse or garble what is not UTF-8; the mark makes the first message unreadable.",
    fix: "Write UTF-8 without a byte-order mark, whatever the system's code page is.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let mut seen = false;
    for (index, line) in evidence.lines.iter().enumerate() {
        for (number, frame) in line.frames.iter().enumerate() {
            if frame.direction == Direction::Sent {
                continue;
            }
            seen = true;
            let mark = frame.bytes.starts_with(b"\xef\xbb\xbf") || frame.bytes.starts_with(b"\xff\xfe");
            let broken = !frame.is_cut() && std::str::from_utf8(&frame.bytes).is_err();
            let zeros = frame.bytes.split(|byte| *byte == 0).count() * 3 > frame.bytes.len() + 3;
            let text = match (mark, broken) {
                (true, _) => "a line begins with a byte-order mark",
                (false, _) if zeros => "a line is full of zero bytes, as UTF-16 is",
                (false, true) => "a line is not UTF-8",
                (false, false) => continue,
            };
            let at = FrameRef { line: index, frame: number };
            return Ok(vec![Finding::new(text).with_frame(at).note(format!("bytes: {}", hex(&frame.bytes)))]);
        }
    }
    if seen { Ok(Vec::new()) } else { Err(Skip::not_verified("the server sent nothing")) }
}

/// The bytes around the first invalid one.
fn hex(bytes: &[u8]) -> String {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
    let shown = &bytes[at.saturating_sub(4)..bytes.len().min(at + 12)];
    shown.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
