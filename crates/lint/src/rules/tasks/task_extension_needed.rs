//! `task-extension-needed`: a client that does not declare the extension gets -32021 from task
//! methods.

use super::declared;
use crate::{
    probes::{TASK_QUESTIONS, TASK_STRANGER_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "task-extension-needed",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "a client that does not declare the extension gets -32021 from task methods",
    clause: Clause::practice("extension io.modelcontextprotocol/tasks 2026-07-28", "Protocol Errors"),
    why: "A client that does not support tasks gets answers that it cannot understand, instead of the error.",
    fix: "Look at `clientCapabilities.extensions` of the request, and answer -32021 where the extension lacks.",
    needs: &[&TASK_QUESTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    declared(case)?;
    let asked = case.first(&TASK_QUESTIONS, TASK_STRANGER_STEP)?;
    if asked.error_code() == Some(-32021) {
        return Ok(Vec::new());
    }
    let message =
        format!("`tasks/get` from a client without the extension: {}, not -32021", asked.describe());
    Ok(vec![asked.finding(message, "")])
}
