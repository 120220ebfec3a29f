//! `unknown-prompt-code`: a prompt that does not exist is refused.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, UNKNOWN_PROMPT_STEP, WRONG_PROMPTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-prompt-code",
    group: Group::Prompts,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a prompt that does not exist is refused with -32602",
    clause: Clause::of("2025-11-25", "server/prompts", "Error Handling"),
    why: "Clients tell a wrong name from a broken server by the code.",
    fix: "Look the name up first and answer -32602.",
    needs: &[&LISTS, &WRONG_PROMPTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("prompts")?;
    let asked = case.first(&WRONG_PROMPTS, UNKNOWN_PROMPT_STEP)?;
    match (asked.result(), asked.error_code()) {
        (Some(_), _) => Ok(vec![asked.finding("a prompt that does not exist gives a result", "/result").level(Level::Error)]),
        (None, Some(-32602)) => Ok(Vec::new()),
        (None, Some(code)) => {
            let message = format!("an unknown prompt should be refused with -32602, not with {code}");
            // Any error tells the user; only programs miss the code.
            Ok(vec![asked.finding(message, "/error/code").level(Level::Info)])
        }
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
