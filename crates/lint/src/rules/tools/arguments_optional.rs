//! `arguments-optional`: a call may leave `arguments` out.

use crate::{
    probes::{LISTS, TOOL_CALL_BARE_STEP, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "arguments-optional",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "a tool without required parameters can be called without `arguments`",
    clause: Clause::of("2025-11-25", "server/tools", "Calling Tools"),
    why: "Clients leave out what is empty; the tool then fails for some of them only.",
    fix: "Treat absent `arguments` as `{}`.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let called = case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let works = |asked: &Asked<'_>| asked.result().is_some_and(|result| result["isError"] != true);
    let mut findings = Vec::new();
    let mut seen = false;
    for bare in case.asked(TOOL_CALL_BARE_STEP) {
        if !called.iter().any(|asked| asked.variant() == bare.variant() && works(asked)) {
            continue;
        }
        seen = true;
        let failed = bare.result().is_some_and(|result| result["isError"] == true);
        if bare.error().is_some() || failed {
            let message =
                format!("a call without `arguments` fails, with `{{}}` it works: {}", bare.describe());
            findings.push(bare.finding(message, "").about(format!("tool {}", bare.variant())));
        }
    }
    if seen {
        Ok(findings)
    } else {
        Err(Skip::not_verified("no tool without required parameters was called"))
    }
}
