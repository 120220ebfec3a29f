//! `task-list-open`: a server without authentication does not list tasks.

use crate::{
    probes::{AUTH_BARE_STEP, AUTHORIZATION, TASK_QUESTIONS, TASKS_LIST_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "task-list-open",
    group: Group::Tasks,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "a server without authentication does not list tasks",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Task Isolation and Access Control"),
    why: "Everyone who reaches the server sees the tasks of all others, and their ids are all it takes to read the results.",
    fix: "Ask for a token and list the caller's own tasks, or do not declare `tasks.list`.",
    needs: &[&TASK_QUESTIONS, &AUTHORIZATION],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tasks.list")?;
    let asked = case.first(&TASK_QUESTIONS, TASKS_LIST_STEP)?;
    let bare = case.first(&AUTHORIZATION, AUTH_BARE_STEP)?;
    let open = bare.http().is_some_and(|head| !matches!(head.status, 401 | 403));
    if open && asked.result().is_some() {
        return Ok(vec![asked.finding("tasks are listed to callers that are not known", "/result")]);
    }
    Ok(Vec::new())
}
