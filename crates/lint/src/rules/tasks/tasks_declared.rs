//! `tasks-declared`: a server that declares no tasks refuses task methods.

use crate::{
    probes::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP, UNKNOWN_TASK, UNKNOWN_TASK_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "tasks-declared",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a server that declares no tasks refuses the methods of tasks",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Error Handling"),
    why: "A client that asks for a task of a server without tasks must learn that there is none, and not wait for it.",
    fix: "Answer -32601, or declare the capability `tasks`.",
    needs: &[&UNKNOWN_TASK, &UNKNOWN_METHOD],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_TASK, UNKNOWN_TASK_STEP)?;
    let declared = case.capability("tasks").is_some()
        || case
            .introduction()
            .and_then(|it| it.pointer("/capabilities/extensions/io.modelcontextprotocol~1tasks"))
            .is_some();
    if declared {
        return Err(Skip::not_applicable("the server declares tasks; `unknown-task` judges them"));
    }
    match (asked.result(), asked.error_code()) {
        (Some(_), _) => Ok(vec![asked.finding("a task that does not exist is given", "/result")]),
        // Some servers refuse every method they do not know with -32602.
        (None, Some(-32602)) if case.asked(UNKNOWN_METHOD_STEP).any(|it| it.error_code() == Some(-32601)) => {
            Ok(vec![asked.finding("tasks are looked up, and not declared", "/error")])
        }
        (None, Some(_)) => Ok(Vec::new()),
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
