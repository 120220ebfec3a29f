//! `requests-in-parallel`: requests do not wait for each other.

use crate::{
    probes::{LISTS, LISTS_AGAIN, LISTS_AT_ONCE, LISTS_AT_ONCE_STEP, TOOLS_AGAIN_STEP},
    rules::prelude::*,
};
use std::time::Duration;

pub(super) static RULE: Rule = Rule {
    name: "requests-in-parallel",
    group: Group::Performance,
    level: Level::Warning,
    summary: "several requests at once take less time than one after another",
    clause: Clause::practice("client limits", "time"),
    why: "Clients send requests side by side; one slow call then holds up all others, pings included.",
    fix: "Handle each request in a task or thread of its own, and do not block the reading loop.",
    needs: &[&LISTS, &LISTS_AGAIN, &LISTS_AT_ONCE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let mut single: Vec<Duration> =
        case.all(&LISTS_AGAIN, TOOLS_AGAIN_STEP)?.iter().map(Asked::took).collect();
    single.sort_unstable();
    let single = single[single.len() / 2];
    let together: Vec<_> = case.asked(LISTS_AT_ONCE_STEP).collect();
    let Some(last) = together.iter().max_by_key(|asked| asked.took()) else {
        return Err(Skip::not_verified("`tools/list` is answered too quickly to tell"));
    };
    let queue = single.saturating_mul(u32::try_from(together.len() - 1).unwrap_or(u32::MAX));
    if last.took() < queue {
        return Ok(Vec::new());
    }
    let message = format!(
        "one `tools/list` takes {:.1} s, {} at once take {:.1} s: they wait for each other",
        single.as_secs_f64(),
        together.len(),
        last.took().as_secs_f64()
    );
    Ok(vec![last.finding(message, "")])
}
