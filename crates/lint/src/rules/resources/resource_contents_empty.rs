//! `resource-contents-empty`: a resource that can be read has contents.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-contents-empty",
    group: Group::Resources,
    level: Level::Info,
    summary: "a read of a listed resource gives at least one piece of contents",
    clause: Clause::of("2025-11-25", "server/resources", "Reading Resources"),
    why: "An empty list leaves open whether the resource is empty or gone.",
    fix: "Return one piece with an empty `text` for an empty resource, and an error for one that is gone.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let empty = |asked: &Asked<'_>| {
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        list.is_some_and(Vec::is_empty)
    };
    let tell = |asked: Asked<'_>| {
        asked.finding("the list of contents is empty", "/result/contents").about(asked.variant())
    };
    Ok(super::read(case)?.into_iter().filter(empty).map(tell).collect())
}
