//! `task-created`: a new task has an id, a status, its times and how long it is kept.

use super::{created, lacking};
use crate::{
    probes::{LISTS, TASK_CALLS},
    rules::prelude::*,
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "task-created",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Active,
    summary: "a new task has an id, a status, its times and how long it is kept",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Creating Tasks"),
    why: "Without them the client cannot ask for the task, does not know when to ask, or asks when it is long gone.",
    fix: "Answer with `taskId`, `status`, `createdAt`, `lastUpdatedAt` and `ttl` (`ttlMs` in the modern era).",
    needs: &[&LISTS, &TASK_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (asked, task, pointer) in created(case)? {
        // Up to 2025-11-25 the first status of a task must be `working`.
        let begun = case.era() == Era::Modern || task["status"] == "working";
        let what = lacking(task)
            .or_else(|| (!begun).then(|| format!("has the status {}, not `working`", task["status"])));
        if let Some(what) = what
            && findings.is_empty()
        {
            findings.push(asked.finding(format!("a new task {what}"), pointer).about(asked.variant()));
        }
    }
    Ok(findings)
}
