//! `task-ids`: task ids cannot be guessed.

use super::created;
use crate::{
    probes::{LISTS, TASK_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "task-ids",
    group: Group::Tasks,
    level: Level::Error,
    mode: Mode::Active,
    summary: "task ids cannot be guessed",
    clause: Clause::of("2025-11-25", "basic/utilities/tasks", "Task Isolation and Access Control"),
    why: "The id is all it takes to read a result or to cancel the work of somebody else.",
    fix: "Take at least 128 bits from a cryptographic source of randomness, for example a version 4 UUID.",
    needs: &[&LISTS, &TASK_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// A shorter id cannot hold 64 bits, not even in base64.
const SHORTEST: usize = 11;

fn check(case: &Case<'_>) -> Verdict {
    let created = created(case)?;
    let ids: Vec<&str> = created.iter().filter_map(|(_, task, _)| task["taskId"].as_str()).collect();
    let (Some((asked, _, pointer)), [first, second, ..]) = (created.first(), ids.as_slice()) else {
        return Err(Skip::not_verified("fewer than two tasks were created"));
    };
    let different = first.chars().zip(second.chars()).filter(|(a, b)| a != b).count()
        + first.len().abs_diff(second.len());
    let message = if first == second {
        format!("two tasks have the id `{first}`")
    } else if first.len() < SHORTEST {
        format!("the task id `{first}` has {} characters only", first.len())
    } else if different <= 4 {
        format!("two task ids differ in {different} characters only")
    } else {
        return Ok(Vec::new());
    };
    Ok(vec![asked.finding(message, pointer).note(format!("ids seen: {}", ids.join(", ")))])
}
