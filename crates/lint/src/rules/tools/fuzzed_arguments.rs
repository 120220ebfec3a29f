//! `fuzzed-arguments`: generated arguments do no harm.

use crate::{
    probes::{FUZZ_ARGUMENTS, FUZZ_CALL_AFTER, FUZZ_CALL_STEP, LISTS},
    rules::{fuzzed, prelude::*},
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "fuzzed-arguments",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Fuzz,
    summary: "tools answer generated arguments with a result or an error, and the server goes on",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "Models make up arguments that nobody thought of; a tool that falls over takes all others with it.",
    fix: "Run the reproducer file, check the arguments before they are used, and answer with `isError` and a text.",
    needs: &[&FUZZ_ARGUMENTS, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let failures = fuzzed::failures(case, FUZZ_CALL_STEP, FUZZ_CALL_AFTER, "generated arguments");
    let mut findings = failures.ok_or_else(|| case.missing(&FUZZ_ARGUMENTS))?;
    let mut tools = BTreeSet::new();
    for (index, line) in case.fuzzed_lines() {
        let calls = line.exchanges.iter().filter(|exchange| exchange.step == FUZZ_CALL_STEP);
        for asked in calls.map(|exchange| Asked::new(case.evidence(), index, exchange)) {
            if asked.error_code() == Some(-32603) && tools.insert(asked.variant()) {
                let message = "odd arguments give an internal error (-32603) instead of a text about them";
                findings.push(asked.finding(message, "/error").about(asked.variant()).level(Level::Warning));
            }
        }
    }
    Ok(findings)
}
