//! `stdout-noise`: standard output holds messages only.

use crate::{
    evidence::{Direction, Evidence, FrameRef},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "stdout-noise",
    group: Group::Stdio,
    level: Level::Error,
    carriers: Carriers::Stdio,
    summary: "standard output carries nothing but messages",
    clause: Clause::of("2026-07-28", "basic/transports/stdio", ""),
    why: "A banner or log line on standard output is the commonest reason why a server works in one client and closes the connection in another.",
    fix: "Write banners, logs and progress to standard error.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let mut frames = Vec::new();
    for (index, line) in evidence.lines.iter().enumerate().filter(|(_, line)| !line.is_fuzzed()) {
        let noise = line.frames.iter().enumerate().filter(|(_, frame)| frame.direction == Direction::Noise);
        frames.extend(noise.map(|(frame, _)| FrameRef { line: index, frame }));
    }
    let Some(first) = frames.first().and_then(|at| evidence.frame(*at)) else { return Ok(Vec::new()) };
    let message =
        format!("the server writes to standard output what is no message, beginning with {:?}", first.text());
    Ok(vec![Finding::new(message).with_frames(frames.into_iter().take(3))])
}
