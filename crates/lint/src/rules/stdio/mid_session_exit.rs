//! `mid-session-exit`: the process runs until its client closes the input.

use crate::{
    evidence::Step,
    probes::{
        BATCH_AFTER, BATCH_STEP, ENVELOPES_AFTER, ENVELOPES_STEP, INTRODUCTION, LISTS, MALFORMED_AFTER,
        MALFORMED_STEP, PING, UNKNOWN_METHOD,
    },
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "mid-session-exit",
    group: Group::Stdio,
    level: Level::Error,
    carriers: Carriers::Stdio,
    summary: "the server does not exit while a client uses it",
    clause: Clause::of("2026-07-28", "basic/transports/stdio", "Unexpected Termination"),
    why: "Clients show a server that exits as disconnected; calls under way are lost.",
    fix: "Catch the failure that ends the process (its last words are below), and exit only when standard input ends.",
    needs: &[&INTRODUCTION, &LISTS, &PING, &UNKNOWN_METHOD],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Steps after which other rules report an exit of the server.
const OTHERS: [Step; 6] =
    [MALFORMED_STEP, MALFORMED_AFTER, BATCH_STEP, BATCH_AFTER, ENVELOPES_STEP, ENVELOPES_AFTER];

fn check(case: &Case<'_>) -> Verdict {
    for (index, line) in case.lines() {
        let Some(ended) = &line.ended else { continue };
        let last = line.exchanges.last();
        if last.is_some_and(|last| OTHERS.contains(&last.step)) {
            continue;
        }
        let message = format!("in the middle of the session the server {}", ended.how);
        let mut finding = Finding::new(message);
        if let Some(last) = last {
            finding = finding.with_frames(Asked::new(case.evidence(), index, last).frames());
        }
        if !line.stderr.is_empty() {
            finding = finding.note(format!("stderr: {}", line.stderr));
        }
        return Ok(vec![finding]);
    }
    Ok(Vec::new())
}
