//! `tasks-declared`: task methods come with the capability.

use crate::{
    evidence::{Case},
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_TASK, UNKNOWN_TASK_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tasks-declared",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a server without tasks refuses task methods, and one with tasks refuses an unknown task with -32602",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Error Handling"),
    why: "A client that asks for a task by a wrong id must learn that it does not exist, and not wait for it.",
    fix: "Answer -32601 where tasks are not declared, -32602 for a task id that does not exist.",
    needs: &[&UNKNOWN_TASK],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_TASK, UNKNOWN_TASK_STEP)?;
    let declared = case.capability("tasks").is_some()
        || case.introduction().and_then(|it| it.pointer("/capabilities/extensions/io.modelcontextprotocol~1tasks")).is_some();
    match (asked.result(), asked.error_code()) {
        (Some(_), _) => Ok(vec![asked.finding("a task that does not exist is given", "/result")]),
        // Whoever does not declare that it can follow tasks may be refused for that.
        (None, Some(-32602 | -32601 | -32600 | -32021)) if declared => Ok(Vec::new()),
        (None, Some(code)) if declared => {
            let message = format!("an unknown task should be refused with -32602, but the error is {code}");
            Ok(vec![asked.finding(message, "/error/code").level(Level::Warning)])
        }
        (None, Some(_)) => Ok(Vec::new()),
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
