//! `initialize-refusal`: a modern-only server tells legacy clients its revisions.

use crate::{
    evidence::Evidence,
    probes::{INITIALIZE, INTRODUCTION},
    rules::prelude::*,
};
use serde_json::Value;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "initialize-refusal",
    group: Group::Lifecycle,
    level: Level::Warning,
    eras: Eras::Modern,
    summary: "a server without the legacy era names its revisions when it refuses `initialize`",
    clause: Clause::of(
        "2026-07-28",
        "basic/versioning",
        "Backward Compatibility with Initialization-Based Versions",
    ),
    why: "Users of older clients see only that the connection failed, and not that they need a newer client.",
    fix: "Answer `initialize` with an error whose `data.supported` lists the supported revisions.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    if evidence.served != [Era::Modern] {
        return Err(Skip::not_applicable("the server speaks the legacy era, or none"));
    }
    let Some(asked) = evidence.asked(INITIALIZE).next() else {
        return Err(Skip::not_verified("`initialize` was not tried"));
    };
    let named = asked.error().is_some_and(|error| {
        let supported =
            error.pointer("/data/supported").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        supported || error["message"].as_str().is_some_and(|message| message.contains("2026-07-28"))
    });
    if named {
        return Ok(Vec::new());
    }
    let message =
        format!("`initialize` should be refused with the supported revisions, but {}", asked.describe());
    Ok(vec![asked.finding(message, if asked.error().is_some() { "/error" } else { "" })])
}
