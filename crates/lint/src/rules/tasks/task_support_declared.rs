//! `task-support-declared`: tools that run as tasks are offered only where the server declares
//! tasks for tool calls.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "task-support-declared",
    group: Group::Tasks,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "tools that run as tasks are offered only where the server declares tasks for tool calls",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Tool-Level Negotiation"),
    why: "Clients ignore `taskSupport` without the declaration; a tool that requires a task can then not be called at all.",
    fix: "Declare `tasks.requests.tools.call`, or drop `taskSupport` from the tools.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    if case.capability("tasks.requests.tools.call").is_some() {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    for tool in tools {
        let support = tool.value.pointer("/execution/taskSupport").and_then(Value::as_str);
        if let Some(support @ ("required" | "optional")) = support {
            let message = format!("tasks are {support}, and the server does not declare them");
            let finding = tool.finding(message, "/execution/taskSupport");
            findings.push(if support == "optional" { finding.level(Level::Warning) } else { finding });
        }
    }
    Ok(findings)
}
