//! Findings about servers that generated input has broken.

use crate::{
    evidence::{Asked, Case, Step},
    outcome::Finding,
};

/// The normal requests that failed after generated input, each reported for the last input before
/// it; `None` if no input was sent. `input` names it.
pub(super) fn failures(case: &Case<'_>, generated: Step, normal: Step, input: &str) -> Option<Vec<Finding>> {
    let (mut findings, mut seen) = (Vec::new(), false);
    for (index, line) in case.fuzzed_lines() {
        let mut last: Option<Asked<'_>> = None;
        for exchange in &line.exchanges {
            let asked = Asked::new(case.evidence(), index, exchange);
            if exchange.step == generated {
                seen = true;
                last = Some(asked);
            } else if exchange.step == normal
                && asked.answer().is_none()
                && let Some(cause) = last
            {
                let ended = line.ended.as_ref().map(|ended| format!("the server {}", ended.how));
                let how = ended.unwrap_or_else(|| asked.describe());
                let message = format!("after {input} a normal request fails: {how}");
                findings.push(cause.finding(message, "").with_frames(asked.frames()).about(cause.variant()));
            }
        }
    }
    seen.then_some(findings)
}
