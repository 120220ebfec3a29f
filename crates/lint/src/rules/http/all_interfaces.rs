//! `all-interfaces`: a server for this machine listens on loopback only.

use crate::{
    evidence::{Case, Step},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{INTERFACES, INTERFACES_OPEN_STEP, INTERFACES_TRIED_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "all-interfaces",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "a server for this machine listens on loopback only",
    clause: Clause::of("2025-11-25", "basic/transports", "Security Warning"),
    why: "Everyone in the same network can call the tools of a server that was meant for its user alone.",
    fix: "Bind to `127.0.0.1` or `::1` unless others are meant to use the server, and then ask for a token.",
    needs: &[&INTERFACES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let seen = |step: Step| -> Vec<&str> { case.lines().flat_map(|(_, line)| line.observed(step)).collect() };
    if seen(INTERFACES_TRIED_STEP).is_empty() {
        return Err(match case.evidence().why_missed(&INTERFACES, Some(case.era())) {
            Some(_) => case.missing(&INTERFACES),
            None => Skip::not_applicable("the server is not on loopback, or this machine has no other address"),
        });
    }
    let open = seen(INTERFACES_OPEN_STEP);
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let note = format!("a connection to the same port of {} was accepted", open.join(" and of "));
    Ok(vec![Finding::new("the server listens on all interfaces, not on loopback only").note(note)])
}
