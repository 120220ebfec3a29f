//! `task-final`: a task does not change after it has ended.

use super::created;
use crate::{
    probes::{LISTS, TASK_CALLS, TASK_CANCEL_STEP, TASK_GET_STEP, TASK_LATER_STEP},
    rules::prelude::*,
};
use serde_json::Value;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "task-final",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Active,
    summary: "a task that has ended stays as it is",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Task Status Lifecycle"),
    why: "A client that has shown a result finds it taken back, or two clients see two different ends.",
    fix: "Refuse to cancel an ended task with -32602 (2025-11-25), and never change its status again.",
    needs: &[&LISTS, &TASK_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    created(case)?;
    let status = |result: &Value| result["status"].as_str().map(str::to_owned);
    let last = case.all(&TASK_CALLS, TASK_GET_STEP)?.into_iter().last();
    let ended = last.and_then(|asked| asked.result().and_then(status));
    let Some(ended) = ended.filter(|status| matches!(status.as_str(), "completed" | "failed" | "cancelled"))
    else {
        return Err(Skip::not_verified("the task did not end in this run"));
    };
    let mut findings = Vec::new();
    let cancel = case.first(&TASK_CALLS, TASK_CANCEL_STEP)?;
    if case.era() == Era::Legacy && cancel.result().is_some() {
        findings.push(cancel.finding(format!("a task that is {ended} can be cancelled"), "/result"));
    }
    let later = case.first(&TASK_CALLS, TASK_LATER_STEP)?;
    if let Some(now) = later.result().and_then(status).filter(|now| *now != ended) {
        findings.push(later.finding(format!("the task was {ended} and is now {now}"), "/result/status"));
    }
    Ok(findings)
}
