//! `cold-start`: a server starts quickly.

use crate::{
    evidence::{Evidence, Line, Settled},
    outcome::{Finding, Level, Skip, Verdict},
    probes::INTRODUCTION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "cold-start",
    group: Group::Performance,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Stdio,
    summary: "a server answers within 5 s of its start",
    clause: Clause::practice("practice", "performance"),
    why: "Clients start servers when the user opens them, and give up after some seconds.",
    fix: "Load what is slow when it is first needed, and install packages beforehand instead of at each start.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
};

const SLOW: Duration = Duration::from_secs(5);
const NOTABLE: Duration = Duration::from_secs(2);

fn check(evidence: &Evidence) -> Verdict {
    // The fastest start counts, because processes that start in parallel slow each other down.
    let first = |line: &Line| {
        line.exchanges.first().filter(|first| first.settled == Settled::Answered).map(|first| first.took)
    };
    let Some(took) = evidence.lines.iter().filter_map(first).min() else {
        return Err(Skip::not_verified("no start was measured"));
    };
    if took <= NOTABLE {
        return Ok(Vec::new());
    }
    let level = if took > SLOW { Level::Warning } else { Level::Info };
    let message = format!("the first answer came {:.1} s after the start", took.as_secs_f64());
    Ok(vec![Finding::new(message).level(level)])
}
