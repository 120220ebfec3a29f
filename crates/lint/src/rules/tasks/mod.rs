//! Rules of the group `tasks`.

mod task_created;
mod task_extension_needed;
mod task_final;
mod task_ids;
mod task_list_open;
mod task_list_shape;
mod task_support_declared;
mod task_support_values;
mod tasks_declared;
mod unknown_task;

use crate::rule::Rule;
use crate::{
    evidence::{Asked, Case},
    outcome::Skip,
    probes::{TASK_CALL_STEP, TASK_CALLS},
};
use serde_json::Value;
use trunkline_protocol::{Era, message::TASKS_EXTENSION};

pub(super) static RULES: &[&Rule] = &[
    &task_created::RULE,
    &task_extension_needed::RULE,
    &task_final::RULE,
    &task_ids::RULE,
    &task_list_open::RULE,
    &task_list_shape::RULE,
    &task_support_declared::RULE,
    &task_support_values::RULE,
    &tasks_declared::RULE,
    &unknown_task::RULE,
];

/// Skips the rule unless the server declares tasks in the form of its era.
fn declared(case: &Case<'_>) -> Result<(), Skip> {
    let found = match case.era() {
        Era::Legacy => case.capability("tasks").is_some(),
        Era::Modern => case.introduction().is_some_and(|introduction| {
            introduction["capabilities"]["extensions"].get(TASKS_EXTENSION).is_some()
        }),
    };
    if found { Ok(()) } else { Err(Skip::not_applicable("the server does not declare tasks")) }
}

/// The created tasks, with the calls and the pointers into their answers.
fn created<'a>(case: &Case<'a>) -> Result<Vec<(Asked<'a>, &'a Value, &'static str)>, Skip> {
    declared(case)?;
    let calls = case.all(&TASK_CALLS, TASK_CALL_STEP)?;
    let task = |asked: Asked<'a>| {
        let result = asked.result()?;
        match case.era() {
            Era::Legacy => Some((asked, result.get("task")?, "/result/task")),
            Era::Modern => (result["resultType"] == "task").then_some((asked, result, "/result")),
        }
    };
    let tasks: Vec<_> = calls.into_iter().filter_map(task).collect();
    if tasks.is_empty() { Err(Skip::not_verified("no call became a task")) } else { Ok(tasks) }
}

/// The missing member of a task, as the end of a sentence.
fn lacking(task: &Value) -> Option<String> {
    for member in ["taskId", "status", "createdAt", "lastUpdatedAt"] {
        if !task[member].is_string() {
            return Some(format!("has no `{member}`"));
        }
    }
    let known = ["working", "input_required", "completed", "failed", "cancelled"];
    if !known.iter().any(|status| task["status"] == *status) {
        return Some(format!("has the status {}", task["status"]));
    }
    let kept = task.get("ttl").is_some() || task.get("ttlMs").is_some();
    (!kept).then(|| "does not say how long it is kept".to_owned())
}
