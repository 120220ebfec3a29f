//! `fuzzed-frames`: generated frames do no harm.

use crate::{
    probes::{FUZZ_FRAME_AFTER, FUZZ_FRAME_STEP, FUZZ_FRAMES},
    rules::{fuzzed, prelude::*},
};

pub(super) static RULE: Rule = Rule {
    name: "fuzzed-frames",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Fuzz,
    summary: "generated, broken frames neither end the server nor silence it",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "What a generator finds in seconds, an attacker or a faulty proxy finds as well.",
    fix: "Run the reproducer file, find the frame that ends the server, and refuse it with an error.",
    needs: &[&FUZZ_FRAMES],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let failures = fuzzed::failures(case, FUZZ_FRAME_STEP, FUZZ_FRAME_AFTER, "a generated frame");
    failures.ok_or_else(|| case.missing(&FUZZ_FRAMES))
}
