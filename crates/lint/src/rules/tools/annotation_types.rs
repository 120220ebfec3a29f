//! `annotation-types`: annotations have the specified types.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "annotation-types",
    group: Group::Tools,
    level: Level::Error,
    summary: "hints are booleans and titles are strings",
    clause: Clause::of("2025-11-25", "schema", "ToolAnnotations"),
    why: "Typed clients refuse the whole list when one hint is a string.",
    fix: "Write `\"readOnlyHint\": true`, not `\"true\"`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

type Wanted = (&'static str, &'static str, fn(&Value) -> bool);

const WANTED: [Wanted; 7] = [
    ("/annotations", "an object", Value::is_object),
    ("/annotations/readOnlyHint", "a boolean", Value::is_boolean),
    ("/annotations/destructiveHint", "a boolean", Value::is_boolean),
    ("/annotations/idempotentHint", "a boolean", Value::is_boolean),
    ("/annotations/openWorldHint", "a boolean", Value::is_boolean),
    ("/annotations/title", "a string", Value::is_string),
    ("/title", "a string", Value::is_string),
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for (pointer, kind, is) in WANTED {
            if tool.value.pointer(pointer).is_some_and(|value| !is(value)) {
                let name = pointer.trim_start_matches('/').replace('/', ".");
                findings.push(tool.finding(format!("`{name}` is not {kind}"), pointer));
            }
        }
    }
    Ok(findings)
}
