//! `fuzzed-arguments`: generated arguments do no harm.

use crate::{
    evidence::{Asked, Case},
    outcome::{Finding, Level, Verdict},
    probes::{FUZZ_ARGUMENTS, FUZZ_CALL_AFTER, FUZZ_CALL_STEP, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "fuzzed-arguments",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Fuzz,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "tools answer generated arguments with a result or an error, and the server goes on",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "Models make up arguments that nobody thought of; a tool that falls over takes all others with it.",
    fix: "Run the reproducer file, check the arguments before they are used, and answer with `isError` and a text.",
    needs: &[&FUZZ_ARGUMENTS, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen = false;
    for (index, line) in case.fuzzed_lines() {
        let mut last: Option<Asked<'_>> = None;
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            if exchange.step == FUZZ_CALL_STEP {
                seen = true;
                last = Some(asked);
                if asked.error_code() == Some(-32603)
                    && findings.iter().all(|known| known.about.as_deref() != Some(asked.variant()))
                {
                    let message =
                        "odd arguments give an internal error (-32603) instead of a text about them";
                    findings
                        .push(asked.finding(message, "/error").about(asked.variant()).level(Level::Warning));
                }
            } else if exchange.step == FUZZ_CALL_AFTER
                && asked.answer().is_none()
                && let Some(cause) = last
            {
                let how = line
                    .ended
                    .as_ref()
                    .map_or_else(|| asked.describe(), |ended| format!("the server {}", ended.how));
                let message = format!("after generated arguments a normal request fails: {how}");
                findings.push(cause.finding(message, "").with_frames(asked.frames()).about(cause.variant()));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&FUZZ_ARGUMENTS)) }
}
