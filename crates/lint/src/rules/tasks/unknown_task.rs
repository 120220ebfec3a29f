//! `unknown-task`: an unknown task is refused with -32602.

use super::declared;
use crate::{
    probes::{TASK_QUESTIONS, TASK_UNKNOWN_STEP},
    rules::prelude::*,
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "unknown-task",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "an unknown task is refused with -32602",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Protocol Errors"),
    why: "A client that asks for a task which is gone waits for ever, or takes an empty answer for its result.",
    fix: "Answer the error -32602 when the task id is not known or belongs to somebody else.",
    needs: &[&TASK_QUESTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    declared(case)?;
    let mut findings = Vec::new();
    for asked in case.all(&TASK_QUESTIONS, TASK_UNKNOWN_STEP)? {
        let finding = match (asked.result(), asked.error_code()) {
            (Some(_), _) => asked.finding("an unknown task gives a result", "/result"),
            (None, Some(-32602)) => continue,
            (None, Some(code)) => {
                let message = format!("an unknown task gives {code} instead of -32602");
                // The extension of the modern era only recommends the code for the other methods.
                let must = case.era() == Era::Legacy || asked.variant() == "tasks/get";
                asked.finding(message, "/error/code").level(if must { Level::Error } else { Level::Warning })
            }
            (None, None) => asked.finding(format!("asked for an unknown task: {}", asked.describe()), ""),
        };
        findings.push(finding.about(asked.variant()));
    }
    Ok(findings)
}
