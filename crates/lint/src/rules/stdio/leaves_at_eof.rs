//! `leaves-at-eof`: a server leaves when its input ends.

use crate::{
    evidence::Case,
    outcome::{Finding, Level, Skip, Verdict},
    probes::SHUTDOWN,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "leaves-at-eof",
    group: Group::Stdio,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Stdio,
    summary: "an idle server exits soon after its standard input is closed",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Shutdown"),
    why: "Clients that end leave the process behind: it keeps its port, its files and its memory.",
    fix: "End the process when reading standard input gives end-of-file.",
    needs: &[&SHUTDOWN],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let line = case.lines().map(|(_, line)| line).find(|line| line.purpose == SHUTDOWN.name);
    let departed = line.ok_or_else(|| case.missing(&SHUTDOWN))?.departed.as_ref();
    let departed = departed.ok_or_else(|| Skip::not_verified("the server had ended before"))?;
    if departed.after.is_some() {
        return Ok(Vec::new());
    }
    let message = "3 s after its input was closed the idle server was still running and had to be ended by a signal";
    Ok(vec![Finding::new(message).note(format!("the server {}", departed.how))])
}
