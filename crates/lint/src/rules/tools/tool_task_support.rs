//! `tool-task-support`: tools say in words of the protocol whether they run as tasks.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-task-support",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Legacy,
    carriers: Carriers::Any,
    summary: "`execution.taskSupport` is `forbidden`, `optional` or `required`, and the server declares tasks where it is not `forbidden`",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Tool-Level Negotiation"),
    why: "A client that relies on it starts a task that the server refuses, or cannot call the tool at all.",
    fix: "Declare `tasks.requests.tools.call`, or leave `execution` out.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(support) = tool.value.get("execution").and_then(|it| it.get("taskSupport")) else { continue };
        let at = "/execution/taskSupport";
        match support.as_str() {
            Some("forbidden") => {}
            Some("optional" | "required") => {
                if case.capability("tasks.requests.tools.call").is_none() {
                    let message = "it can run as a task, but the server does not declare `tasks.requests.tools.call`";
                    findings.push(tool.finding(message, at).level(Level::Warning));
                }
            }
            _ => findings.push(tool.finding(format!("{support} is not a word for how a tool runs as a task"), at)),
        }
    }
    Ok(findings)
}
