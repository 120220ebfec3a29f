//! `buffered-output`: answers are flushed at once.

use crate::{
    evidence::{Direction, Evidence, FrameRef, Line, Settled},
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use serde_json::Value;
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "buffered-output",
    group: Group::Stdio,
    level: Level::Warning,
    carriers: Carriers::Stdio,
    summary: "an answer is written when it is ready, and not kept in a buffer",
    clause: Clause::practice("practice", "answers when they are ready"),
    why: "The client waits for an answer that is still in the server's buffer; to the user the server hangs.",
    fix: "Flush standard output after every message (Python: `flush=True` or `python -u`; C: `setvbuf`).",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let mut seen = false;
    let mut found = None;
    for (index, line) in evidence.lines.iter().enumerate() {
        // Buffering shows at the first answer; later answers may be late for other reasons.
        let Some(first) = line.exchanges.first() else { continue };
        let asked = Asked::new(evidence, index, first);
        let Some((sent, id)) = asked.sent().and_then(|sent| Some((sent, sent.json()?.get("id")?))) else {
            continue;
        };
        seen = true;
        // One process answered before EOF, so there is no buffering: the other one was only slow
        // to start.
        if *asked.settled() == Settled::Answered {
            found = None;
            break;
        }
        if found.is_some() || !matches!(asked.settled(), Settled::Silent(_) | Settled::Gone) {
            continue;
        }
        let late = line.frames.iter().enumerate().find(|(_, frame)| {
            frame.direction == Direction::Received && frame.json().is_some_and(|it| answers(it, id))
        });
        if let Some((number, frame)) = late {
            let waited = frame.at.saturating_sub(sent.at).as_secs_f64();
            let text = format!("the answer came {waited:.1} s late, when more input or its end was there");
            let finding = Finding::new(text).with_frame(FrameRef { line: index, frame: number });
            found = Some(finding.with_frames(asked.sent_ref()));
        }
    }
    found = found.or_else(|| evidence.lines.iter().enumerate().find_map(|(index, line)| stuck(index, line)));
    if seen { Ok(found.into_iter().collect()) } else { Err(Skip::not_verified("no request was sent")) }
}

/// Time within which more input pushes a late answer out.
const AT_ONCE: Duration = Duration::from_millis(300);

/// A finding for an answer that was overdue, and came as soon as there was more input or its end.
fn stuck(index: usize, line: &Line) -> Option<Finding> {
    let overdue = line.exchanges.iter().filter(|it| matches!(it.settled, Settled::Silent(_)));
    overdue.into_iter().find_map(|exchange| {
        let sent = exchange.sent?;
        let id = line.frames[sent].json()?.get("id")?;
        let late = line.frames.iter().enumerate().skip(sent + 1).find(|(_, frame)| {
            frame.direction == Direction::Received && frame.json().is_some_and(|it| answers(it, id))
        });
        let (late, _) = late?;
        let waited = |at: Duration| line.frames[late].at.checked_sub(at).is_some_and(|it| it < AT_ONCE);
        let more = line.frames[sent + 1..late].iter().rev().find(|it| it.direction == Direction::Sent);
        if !more.map(|it| it.at).or(line.closed).is_some_and(waited) {
            return None;
        }
        let text = "the end of an answer came only when more input or its end was there";
        let frames = [sent, late].map(|frame| FrameRef { line: index, frame });
        Some(Finding::new(text).with_frames(frames))
    })
}

fn answers(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}
