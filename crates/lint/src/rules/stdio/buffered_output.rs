//! `buffered-output`: answers are flushed at once.

use crate::{
    evidence::{Asked, Direction, Evidence, FrameRef, Settled},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "buffered-output",
    group: Group::Stdio,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Stdio,
    summary: "an answer is written when it is ready, and not kept in a buffer",
    clause: Clause::practice("practice", "answers when they are ready"),
    why: "The client waits for an answer that is still in the server's buffer; to the user the server hangs.",
    fix: "Flush standard output after every message (Python: `flush=True` or `python -u`; C: `setvbuf`).",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Target(check),
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
            return Ok(Vec::new());
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
    if seen { Ok(found.into_iter().collect()) } else { Err(Skip::not_verified("no request was sent")) }
}

fn answers(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}
