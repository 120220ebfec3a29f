//! `children-left`: a server ends its child processes when it exits.

use crate::{evidence::Evidence, probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "children-left",
    group: Group::Stdio,
    level: Level::Warning,
    carriers: Carriers::Stdio,
    summary: "a server ends its child processes when it exits",
    clause: Clause::of("2026-07-28", "basic/transports/stdio", "Shutdown"),
    why: "Orphaned processes keep ports, files and memory, and can no longer be assigned to a server.",
    fix: "End the processes that the server started, and wait for them, before it exits.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let departed = evidence.lines.iter().filter_map(|line| line.departed.as_ref());
    let left: Vec<&Vec<String>> = departed.filter_map(|departed| departed.left_behind.as_ref()).collect();
    if left.is_empty() {
        return Err(Skip::not_verified("no process left by itself where its children could be seen"));
    }
    // Each line is another process of the same server, so one finding is enough.
    let Some(names) = left.into_iter().find(|names| !names.is_empty()) else { return Ok(Vec::new()) };
    let message =
        format!("half a second after the server had left, its children still ran: {}", names.join(", "));
    Ok(vec![Finding::new(message)])
}
