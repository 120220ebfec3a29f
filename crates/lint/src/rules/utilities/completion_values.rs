//! `completion-values`: a completion is a list of at most 100 strings.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{COMPLETION, COMPLETION_STEP, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "completion-values",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a completion is a list of at most 100 strings",
    clause: Clause::of("2025-11-25", "server/utilities/completion", "Completion Results"),
    why: "Clients show the values as they come; more than a hundred or other things than strings break the list.",
    fix: "Answer `completion.values` with the best 100 strings, and set `total` and `hasMore` for the rest.",
    needs: &[&LISTS, &COMPLETION],
    check: Check::Server(check),
};

/// The most values a result may have.
const MOST: usize = 100;

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("completions")?;
    let mut findings = Vec::new();
    let all: Vec<_> = case.asked(COMPLETION_STEP).collect();
    if all.is_empty() {
        return Err(Skip::not_verified("there is no argument to complete"));
    }
    for asked in all {
        let Some(result) = asked.result() else { continue };
        let values = result.pointer("/completion/values").and_then(Value::as_array);
        let finding = match values {
            None => asked.finding("the result has no `completion.values`", "/result"),
            Some(values) if values.len() > MOST => {
                asked.finding(format!("a completion has {} values", values.len()), "/result/completion/values")
            }
            Some(values) if values.iter().any(|value| !value.is_string()) => {
                asked.finding("a value of a completion is no string", "/result/completion/values")
            }
            Some(_) => continue,
        };
        findings.push(finding.about(asked.variant()));
    }
    Ok(findings)
}
