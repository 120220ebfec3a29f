//! `second-process`: two processes of a server can run at the same time.

use crate::{evidence::Evidence, probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "second-process",
    group: Group::Stdio,
    level: Level::Warning,
    carriers: Carriers::Stdio,
    summary: "a second process of the server neither ends nor blocks the first",
    clause: Clause::practice("practice", "one process per client"),
    why: "Every client starts its own process: with two clients, or two windows of one, tools fail for no visible reason.",
    fix: "Use a free port, and lock files only while they are written. If there can be only one, serve HTTP.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    match &evidence.exclusive {
        Some(how) => Ok(vec![Finding::new(how.clone())]),
        // The first processes of both eras run at the same time.
        None if evidence.lines.iter().filter(|line| line.was_answered()).count() > 1 => Ok(Vec::new()),
        None => Err(Skip::not_verified("no two processes ran at the same time")),
    }
}
