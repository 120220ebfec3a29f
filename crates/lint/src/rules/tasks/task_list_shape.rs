//! `task-list-shape`: listed tasks have id, status, times and ttl.

use super::lacking;
use crate::{
    probes::{TASK_QUESTIONS, TASKS_LIST_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "task-list-shape",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "listed tasks have id, status, times and ttl",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Listing Tasks"),
    why: "A client that finds its tasks again after a restart cannot tell which are done and which are gone.",
    fix: "Give every task `taskId`, `status`, `createdAt`, `lastUpdatedAt` and `ttl`.",
    needs: &[&TASK_QUESTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tasks.list")?;
    let asked = case.first(&TASK_QUESTIONS, TASKS_LIST_STEP)?;
    let Some(result) = asked.result() else {
        return Ok(vec![asked.finding(format!("`tasks/list` fails: {}", asked.describe()), "/error")]);
    };
    let Some(tasks) = result["tasks"].as_array() else {
        return Ok(vec![asked.finding("the result has no list of tasks", "/result")]);
    };
    let bad = tasks.iter().enumerate().find_map(|(index, task)| Some((index, lacking(task)?)));
    Ok(bad
        .map(|(index, what)| {
            asked.finding(format!("a listed task {what}"), &format!("/result/tasks/{index}"))
        })
        .into_iter()
        .collect())
}
