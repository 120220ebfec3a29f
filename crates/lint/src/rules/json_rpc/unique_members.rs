//! `unique-members`: no JSON object has a duplicate member.

use crate::{
    evidence::{Direction, FrameRef},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use trunkline_protocol::{Defect, Frame as Parsed};

pub(super) static RULE: Rule = Rule {
    name: "unique-members",
    group: Group::JsonRpc,
    level: Level::Warning,
    summary: "no object in a message has the same member twice",
    clause: Clause::practice("RFC 8259", "section 4"),
    why: "Two readers of such a message see two different values; that is how checks are bypassed.",
    fix: "Serialise from a map or a struct instead of putting JSON text together.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut seen = false;
    for (index, line) in case.lines() {
        for (number, frame) in line.frames.iter().enumerate() {
            if frame.direction != Direction::Received || frame.is_cut() {
                continue;
            }
            seen = true;
            if let Err(malformed) = Parsed::parse(&frame.bytes)
                && malformed.defect == Defect::DuplicateKey
            {
                let text = format!("a member name stands twice in one object (byte {})", malformed.offset);
                return Ok(vec![Finding::new(text).with_frame(FrameRef { line: index, frame: number })]);
            }
        }
    }
    if seen { Ok(Vec::new()) } else { Err(Skip::no_message()) }
}
