//! `list-latency`: lists are answered quickly.

use crate::{
    probes::{LISTS, LISTS_AGAIN, TOOLS_AGAIN_STEP},
    rules::prelude::*,
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "list-latency",
    group: Group::Performance,
    level: Level::Warning,
    summary: "a list is answered within 1 s",
    clause: Clause::practice("practice", "performance"),
    why: "Clients ask for all lists before the first prompt; the user waits for the slowest server.",
    fix: "Keep the list in memory instead of asking a backend for it each time.",
    needs: &[&LISTS, &LISTS_AGAIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SLOW: Duration = Duration::from_secs(1);

fn check(case: &Case<'_>) -> Verdict {
    let lists = List::ALL.into_iter().flat_map(|list| case.asked(list.step()));
    let all: Vec<_> =
        lists.chain(case.asked(TOOLS_AGAIN_STEP)).filter(|asked| asked.result().is_some()).collect();
    // A single slow answer may be due to the machine.
    let slow: Vec<_> = all.iter().filter(|asked| asked.took() > SLOW).collect();
    let Some(first) = slow.first() else {
        return if all.is_empty() { Err(Skip::not_verified("no list was answered")) } else { Ok(Vec::new()) };
    };
    if slow.len() < 2 {
        return Ok(Vec::new());
    }
    let message = format!(
        "{} of {} lists took longer than 1 s, one {:.1} s",
        slow.len(),
        all.len(),
        first.took().as_secs_f64()
    );
    Ok(vec![Finding::new(message).with_frames(first.sent_ref())])
}
