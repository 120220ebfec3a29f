//! `fuzzed-frames`: generated frames do no harm.

use crate::{
    evidence::{Asked, Case},
    outcome::{Finding, Level, Verdict},
    probes::{FUZZ_FRAME_AFTER, FUZZ_FRAME_STEP, FUZZ_FRAMES},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "fuzzed-frames",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Fuzz,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "generated, broken frames neither end the server nor silence it",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "What a generator finds in seconds, an attacker or a faulty proxy finds as well.",
    fix: "Run the reproducer file, find the frame that ends the server, and refuse it with an error.",
    needs: &[&FUZZ_FRAMES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen = false;
    for (index, line) in case.fuzzed_lines() {
        let mut last: Option<Asked<'_>> = None;
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            if exchange.step == FUZZ_FRAME_STEP {
                seen = true;
                last = Some(asked);
            } else if exchange.step == FUZZ_FRAME_AFTER
                && asked.answer().is_none()
                && let Some(cause) = last
            {
                let how = line
                    .ended
                    .as_ref()
                    .map_or_else(|| asked.describe(), |ended| format!("the server {}", ended.how));
                let message = format!("after a generated frame a normal request fails: {how}");
                findings.push(cause.finding(message, "").with_frames(asked.frames()).about(cause.variant()));
            }
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&FUZZ_FRAMES)) }
}
