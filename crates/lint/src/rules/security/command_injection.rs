//! `command-injection`: an argument is not evaluated by a shell, a template or a database.

use crate::{
    probes::{COMMAND_CALL_STEP, INJECTIONS, LISTS, PRODUCT},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "command-injection",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Active,
    summary: "an argument is not run by a shell, a template or a database",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "An attacker who controls the model's input runs programs on the server's machine.",
    fix: "Start programs with a list of arguments, without a shell, and never put arguments into templates or queries as text.",
    needs: &[&LISTS, &INJECTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let calls: Vec<_> = case.asked(COMMAND_CALL_STEP).collect();
    if calls.is_empty() {
        return Err(Skip::not_verified("no tool that may be called takes a text"));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for asked in calls {
        let answer = asked.answer().map(Value::to_string).unwrap_or_default();
        if answer.contains(PRODUCT)
            && findings.iter().all(|known| known.about.as_deref() != Some(asked.variant()))
        {
            let message = "the argument was run: the answer holds the product of a multiplication in it";
            findings.push(asked.finding(message, "/result").about(asked.variant()));
        }
    }
    Ok(findings)
}
