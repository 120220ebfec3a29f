//! `list-time`: lists come quickly.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, LIST_AGAIN_STEP, REPEATED_LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "list-time",
    group: Group::Performance,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`tools/list` is answered within a second",
    clause: Clause::practice("client limits", "time"),
    why: "Clients list the tools at every start and after every change, while the user waits.",
    fix: "Build the list once and keep it; do not ask another service for it on every request.",
    needs: &[&LISTS, &REPEATED_LISTS],
    check: Check::Server(check),
};

const SLOW: Duration = Duration::from_secs(1);

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let mut asked = case.all(&REPEATED_LISTS, LIST_AGAIN_STEP)?;
    asked.retain(|asked| asked.answer().is_some());
    asked.sort_by_key(Asked::took);
    let (Some(median), Some(slowest)) = (asked.get(asked.len() / 2), asked.last()) else {
        return Err(Skip::not_verified("`tools/list` was not answered again"));
    };
    if slowest.took() <= SLOW {
        return Ok(Vec::new());
    }
    let took = |asked: &Asked<'_>| asked.took().as_secs_f64();
    let message = format!("`tools/list` took {:.1} s; the median of {} requests is {:.1} s", took(slowest), asked.len(), took(median));
    let finding = slowest.finding(message, "");
    // One slow answer may be the machine's fault.
    Ok(vec![if median.took() > SLOW { finding } else { finding.level(Level::Info) }])
}
