//! `cache-scope-credentials`: results that depend on the caller are not cached for all callers.

use crate::{
    probes::{AUTH_LIST_STEP, AUTHORIZATION, LISTS},
    rules::{prelude::*, words},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "cache-scope-credentials",
    group: Group::Utilities,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "results that depend on the caller are not cached for all callers",
    clause: Clause::of("2026-07-28", "server/utilities/caching", "Cache Scope Field"),
    why: "A shared cache hands the list of one user to all others: they see tools that are none of their business.",
    fix: "Give `cacheScope: private` to results that depend on the token of the request.",
    needs: &[&LISTS, &AUTHORIZATION],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let Some(bare) = case.asked(AUTH_LIST_STEP).next() else {
        return Err(Skip::not_verified("the server was not asked with and without a token"));
    };
    let known = case.first(&LISTS, List::Tools.step())?;
    let (Some(with), Some(without)) = (names(&known), names(&bare)) else {
        return Err(Skip::not_verified(bare.describe()));
    };
    let differ: Vec<&str> = with.symmetric_difference(&without).copied().collect();
    let public = |asked: &Asked<'_>| asked.result().is_some_and(|result| result["cacheScope"] == "public");
    let Some(wrong) = [known, bare].into_iter().find(|asked| !differ.is_empty() && public(asked)) else {
        return Ok(Vec::new());
    };
    let message = format!("the list is public, and only one of two callers sees {}", words::some(&differ));
    Ok(vec![wrong.finding(message, "/result/cacheScope").with_frames(known.answer_ref())])
}

fn names<'a>(asked: &Asked<'a>) -> Option<BTreeSet<&'a str>> {
    let tools = asked.result()?.get("tools")?.as_array()?;
    Some(tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect())
}
