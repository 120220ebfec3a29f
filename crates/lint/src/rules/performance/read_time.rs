//! `read-time`: resources are read quickly.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::{prelude::*, resource_reads},
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "read-time",
    group: Group::Performance,
    level: Level::Info,
    summary: "a listed resource is read within 2 seconds",
    clause: Clause::practice("client limits", "time"),
    why: "Clients read resources while the user waits, and the model with them.",
    fix: "Keep what is expensive to make, or offer it as a tool that reports progress.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SLOW: Duration = Duration::from_secs(2);

fn check(case: &Case<'_>) -> Verdict {
    let read = resource_reads(case)?;
    let answered: Vec<_> = read.into_iter().filter(|asked| asked.answer().is_some()).collect();
    if answered.is_empty() {
        return Err(Skip::not_verified("no resource could be read"));
    }
    let slow = answered.into_iter().filter(|asked| asked.took() > SLOW);
    let tell = |asked: Asked<'_>| {
        let message = format!("reading it took {:.1} s", asked.took().as_secs_f64());
        asked.finding(message, "").about(asked.variant())
    };
    Ok(slow.map(tell).collect())
}
