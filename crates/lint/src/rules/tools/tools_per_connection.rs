//! `tools-per-connection`: the tool list does not depend on the connection.

use crate::{
    probes::{ANOTHER_LIST, ANOTHER_LIST_STEP, LISTS},
    rules::{prelude::*, words},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "tools-per-connection",
    group: Group::Tools,
    level: Level::Error,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "another connection with the same credentials gets the same tools",
    clause: Clause::of("2026-07-28", "server/tools", "Capabilities"),
    why: "The modern era has no sessions: proxies and caches hand one connection's list to all others.",
    fix: "Let the list depend on the caller's identity and on nothing else.",
    needs: &[&LISTS, &ANOTHER_LIST],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let first = case.first(&LISTS, List::Tools.step())?;
    let other = case.first(&ANOTHER_LIST, ANOTHER_LIST_STEP)?;
    let (Some(here), Some(there)) = (first.result(), other.result()) else {
        return Err(Skip::not_verified(other.describe()));
    };
    let names = |result: &Value| -> BTreeSet<String> {
        let tools = result.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect()
    };
    let (here, there) = (names(here), names(there));
    let differ: Vec<&str> = here.symmetric_difference(&there).map(String::as_str).collect();
    if differ.is_empty() {
        return Ok(Vec::new());
    }
    let message = format!("only one of two connections sees {}", words::some(&differ));
    Ok(vec![other.finding(message, "/result/tools").with_frames(first.answer_ref())])
}
