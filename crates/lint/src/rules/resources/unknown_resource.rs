//! `unknown-resource`: a resource that does not exist cannot be read.

use crate::{
    probes::{UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP},
    rules::prelude::*,
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "unknown-resource",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "reading an unknown resource fails, with -32002 (legacy) or -32602 (modern)",
    clause: Clause::of("2026-07-28", "server/resources", "Error Handling"),
    why: "Empty contents look like an empty file; the model goes on as if it had read it.",
    fix: "Answer with the error instead of empty `contents`.",
    needs: &[&UNKNOWN_RESOURCE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    let asked = case.first(&UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP)?;
    // Revisions up to 2025-11-25 only recommend this error code.
    let (wanted, level) = match case.era() {
        Era::Legacy => (-32002, Level::Info),
        Era::Modern => (-32602, Level::Error),
    };
    match (asked.result(), asked.error_code()) {
        (Some(_), _) => Ok(vec![asked.finding("reading a resource that does not exist succeeds", "/result")]),
        (None, Some(code)) if code == wanted => Ok(Vec::new()),
        (None, Some(code)) => {
            let message =
                format!("an unknown resource should be refused with {wanted}, but the error is {code}");
            Ok(vec![asked.finding(message, "/error/code").level(level)])
        }
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
