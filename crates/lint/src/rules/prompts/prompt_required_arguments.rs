//! `prompt-required-arguments`: required arguments of prompts are required.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LACKING_PROMPT_STEP, LISTS, WRONG_PROMPTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-required-arguments",
    group: Group::Prompts,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a prompt asked for without an argument that it requires is refused with -32602",
    clause: Clause::of("2025-11-25", "server/prompts", "Error Handling"),
    why: "The model gets a prompt with a hole in it, such as \"summarise undefined\".",
    fix: "Check the arguments against the list before the prompt is made, and answer -32602.",
    needs: &[&LISTS, &WRONG_PROMPTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("prompts")?;
    let asked = case.all(&WRONG_PROMPTS, LACKING_PROMPT_STEP);
    let asked = asked.map_err(|missing| none_required(case).unwrap_or(missing))?;
    let mut findings = Vec::new();
    for asked in asked {
        let about = format!("prompt {}", asked.variant());
        match (asked.result(), asked.error_code()) {
            (Some(_), _) => {
                findings.push(asked.finding("it is given without an argument that it requires", "/result").about(about));
            }
            (None, Some(-32602)) => {}
            (None, _) => {
                let message = format!("a missing argument should be refused with -32602, but {}", asked.describe());
                findings.push(asked.finding(message, "/error/code").about(about).level(Level::Info));
            }
        }
    }
    Ok(findings)
}

fn none_required(case: &Case<'_>) -> Option<Skip> {
    let prompts = case.list(List::Prompts).ok()?;
    let requires = |argument: &Value| argument.get("required").is_some_and(|it| *it == Value::Bool(true));
    let any = prompts.iter().any(|prompt| {
        let mut arguments = prompt.value.get("arguments").and_then(Value::as_array).into_iter().flatten();
        arguments.any(requires)
    });
    (!any).then(|| Skip::not_applicable("no prompt requires an argument"))
}
