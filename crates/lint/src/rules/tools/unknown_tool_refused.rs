//! `unknown-tool-refused`: a tool that does not exist cannot be called.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "unknown-tool-refused",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a call of a tool that does not exist is refused",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "A model that makes up a tool believes that it worked.",
    fix: "Look the name up before anything else and answer -32602.",
    needs: &[&UNKNOWN_TOOL],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let asked = case.first(&UNKNOWN_TOOL, UNKNOWN_TOOL_STEP)?;
    if asked.answer().is_none() {
        return Err(Skip::not_verified(asked.describe()));
    }
    let accepted = asked.result().is_some_and(|result| result["isError"] != true);
    Ok(accepted.then(|| asked.finding("a call of a tool that does not exist succeeds", "/result")).into_iter().collect())
}
