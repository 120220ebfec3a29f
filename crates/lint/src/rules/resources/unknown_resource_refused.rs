//! `unknown-resource-refused`: a resource that does not exist cannot be read.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "unknown-resource-refused",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a read of a resource that does not exist is refused with an error",
    clause: Clause::of("2025-11-25", "server/resources", "Error Handling"),
    why: "Empty contents look like an empty file; the model goes on as if it had read one.",
    fix: "Answer an error when the URI is not known, never an empty list of contents.",
    needs: &[&UNKNOWN_RESOURCE],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    let asked = case.first(&UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP)?;
    match (asked.result(), asked.error()) {
        (Some(result), _) => {
            let empty = result.get("contents").and_then(Value::as_array).is_none_or(Vec::is_empty);
            let what = if empty { "empty contents" } else { "contents" };
            Ok(vec![asked.finding(format!("a resource that does not exist gives {what} instead of an error"), "/result/contents")])
        }
        (None, Some(_)) => Ok(Vec::new()),
        (None, None) => Err(Skip::not_verified(asked.describe())),
    }
}
