//! `description-length`: descriptions are not cut off.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "description-length",
    group: Group::Context,
    level: Level::Warning,
    summary: "descriptions of tools have at most 2,048 characters",
    clause: Clause::practice("client limits", "descriptions"),
    why: "Some clients cut descriptions off after 2 KB: what stands at the end never reaches the model.",
    fix: "Say the essential in the first sentences and move the rest to parameters, error texts or a resource.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 2_048;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let length = tool.text("description").unwrap_or_default().len();
        if length > MOST {
            let message = format!("the description has {length} bytes; some clients cut it off after {MOST}");
            findings.push(tool.finding(message, "/description"));
        }
    }
    Ok(findings)
}
