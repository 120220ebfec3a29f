//! `cursor-refused`: a cursor that the server never issued is refused.

use crate::{
    probes::{BAD_CURSOR, BAD_CURSOR_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "cursor-refused",
    group: Group::Utilities,
    level: Level::Info,
    mode: Mode::Negative,
    summary: "a list asked for with an invalid cursor is refused with -32602",
    clause: Clause::of("2025-11-25", "server/utilities/pagination", "Error Handling"),
    why: "A client with a stale cursor gets the first page again and believes that it has seen the rest.",
    fix: "Answer -32602 for a cursor that the server did not give.",
    needs: &[&BAD_CURSOR],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    let mut lists = Vec::new();
    for asked in case.all(&BAD_CURSOR, BAD_CURSOR_STEP)? {
        // An optional list that the server lacks is answered with -32601, which is fine.
        if !matches!(asked.error_code(), Some(-32602 | -32601)) {
            let message =
                format!("an invalid cursor should be refused with -32602, but {}", asked.describe());
            lists.push(asked.variant());
            if findings.is_empty() {
                findings.push(asked.finding(message, "").about(asked.variant()));
            }
        }
    }
    if let ([finding], [_, others @ ..]) = (findings.as_mut_slice(), lists.as_slice())
        && !others.is_empty()
    {
        finding.notes.push(format!("the same with {}", others.join(", ")));
    }
    Ok(findings)
}
