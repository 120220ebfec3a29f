//! `tasks-undeclared`: tasks are served only where they are declared.

use super::declared;
use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{TASKS_UNDECLARED_STEP, UNKNOWN_TASK},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tasks-undeclared",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "tasks are served only where they are declared",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Capabilities"),
    why: "Clients go by the declaration; what works in secret is never used, and nobody expects to have to protect it.",
    fix: "Declare `tasks` (or the extension in the modern era), or answer -32601 to its methods.",
    needs: &[&UNKNOWN_TASK],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    if declared(case).is_ok() {
        return Err(Skip::not_applicable("the server declares tasks"));
    }
    let asked = case.first(&UNKNOWN_TASK, TASKS_UNDECLARED_STEP)?;
    if asked.result().is_some() {
        return Ok(vec![asked.finding("tasks are served, and not declared", "/result")]);
    }
    Ok(Vec::new())
}
