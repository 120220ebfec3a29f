//! `path-escape`: a path argument does not lead out of the tool's root.

use crate::{
    probes::{ESCAPE_CALL_STEP, INJECTIONS, LISTS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "path-escape",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Active,
    summary: "a path argument does not lead out of the tool's root",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "An attacker who controls the model's input reads every file that the server can: keys, tokens, the documents of its user.",
    fix: "Resolve the path, links included, and check that it lies below the root before opening it.",
    needs: &[&LISTS, &INJECTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let calls: Vec<_> = case.asked(ESCAPE_CALL_STEP).collect();
    if calls.is_empty() {
        return Err(Skip::not_verified("no tool that may be called takes a path"));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for asked in calls {
        let text = asked.result().map(Value::to_string).unwrap_or_default();
        // Part of the first line of `/etc/passwd`; an error that only repeats the path does not
        // match.
        let leaked = text.contains("root:") && text.contains(":0:0:");
        if leaked && findings.iter().all(|known| known.about.as_deref() != Some(asked.variant())) {
            let message = "the call gives a file outside of the root";
            findings.push(asked.finding(message, "/result").about(asked.variant()));
        }
    }
    Ok(findings)
}
