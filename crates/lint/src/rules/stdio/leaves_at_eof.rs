//! `leaves-at-eof`: a server exits at EOF on its input.

use crate::{
    evidence::{Evidence, Line, Settled},
    probes::INTRODUCTION,
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "leaves-at-eof",
    group: Group::Stdio,
    level: Level::Warning,
    carriers: Carriers::Stdio,
    summary: "an idle server exits soon after its standard input is closed",
    clause: Clause::of("2026-07-28", "basic/transports/stdio", "Shutdown"),
    why: "Clients that end leave the process behind: it keeps its port, its files and its memory.",
    fix: "End the process when reading standard input gives end-of-file.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    // A busy server may finish its work first, so only idle processes count.
    let departed: Vec<_> = evidence
        .lines
        .iter()
        .filter(|line| is_idle(line))
        .filter_map(|line| line.departed.as_ref())
        .collect();
    let Some(first) = departed.first() else {
        return Err(Skip::not_verified("no process was idle when its input was closed"));
    };
    if departed.iter().any(|departed| departed.after.is_some()) {
        return Ok(Vec::new());
    }
    let message = "more than 10 s after its input was closed the idle server was still running and had to be ended by a signal";
    Ok(vec![Finding::new(message).note(format!("the server {}", first.how))])
}

fn is_idle(line: &Line) -> bool {
    line.exchanges.iter().all(|exchange| matches!(exchange.settled, Settled::Answered | Settled::Quiet))
}
