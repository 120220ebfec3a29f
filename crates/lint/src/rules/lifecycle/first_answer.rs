//! `first-answer`: a server answers the first request.

use crate::{
    evidence::{Evidence, FrameRef},
    probes::{DISCOVER, INITIALIZE, INTRODUCTION, UNINTRODUCED},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "first-answer",
    group: Group::Lifecycle,
    level: Level::Error,
    summary: "the server answers `server/discover` or `initialize` with a well-formed result",
    clause: Clause::of("2026-07-28", "basic/versioning", "Protocol Version Negotiation"),
    why: "A client that gets no answer to its first message cannot connect at all, and the user sees only that the server hangs or failed.",
    fix: "Answer `initialize` (revisions up to 2025-11-25) or `server/discover` (2026-07-28) with a result; write nothing else to standard output.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    if !evidence.served.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked = evidence.asked(DISCOVER).chain(evidence.asked(INITIALIZE));
    if asked.any(|asked| asked.http().is_some_and(|http| http.status == 401)) {
        return Err(Skip::not_verified("the server requires authentication; give it a token with --header"));
    }
    let mut asked = evidence.asked(DISCOVER).chain(evidence.asked(INITIALIZE));
    let forbidden = asked.any(|asked| asked.http().is_some_and(|http| http.status == 403));
    let served = evidence.asked(UNINTRODUCED).find(|asked| asked.result().is_some());
    let mut finding = Finding::new(match (forbidden, &served) {
        (true, _) => {
            "the first request is refused with 403; a server that wants a token answers 401 and says where to get one"
        }
        (_, Some(_)) => {
            "`server/discover` is refused, although the server answers other requests of 2026-07-28"
        }
        _ => "neither `server/discover` nor `initialize` got a usable answer",
    });
    finding = finding.with_frames(served.into_iter().flat_map(|served| served.frames()));
    for asked in evidence.asked(DISCOVER).chain(evidence.asked(INITIALIZE)) {
        finding = finding.with_frames(asked.frames().into_iter().take(4)).note(asked.describe());
    }
    for (index, line) in evidence.lines.iter().enumerate() {
        let noise = line.frames.iter().position(|frame| frame.direction == crate::evidence::Direction::Noise);
        finding = finding.with_frames(noise.map(|frame| FrameRef { line: index, frame }));
        if let Some(ended) = &line.ended {
            finding = finding.note(format!("the server {} after {} ms", ended.how, ended.at.as_millis()));
        }
        if !line.stderr.is_empty() {
            finding = finding.note(format!("stderr: {}", line.stderr));
        }
    }
    Ok(vec![finding])
}
