//! `start-time`: the server is there quickly.

use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::INTRODUCTION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "start-time",
    group: Group::Performance,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the first answer comes within 5 seconds of the start, better within 2",
    clause: Clause::practice("client limits", "time"),
    why: "Users wait for it at every start of their client, and some clients give up.",
    fix: "Load heavy modules and open connections at the first call that needs them, not before `initialize` is answered.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
};

const SLOW: Duration = Duration::from_secs(5);
const NOT_QUICK: Duration = Duration::from_secs(2);

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let at = introduced.answer_ref().and_then(|at| case.evidence().frame(at)).map(|frame| frame.at);
    let Some(took) = at else { return Err(case.missing(&INTRODUCTION)) };
    if took <= NOT_QUICK {
        return Ok(Vec::new());
    }
    let message = format!("the first answer came after {:.1} s", took.as_secs_f64());
    let finding = introduced.finding(message, "");
    Ok(vec![if took > SLOW { finding } else { finding.level(Level::Info) }])
}
