//! `server-version`: the server sends its version.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "server-version",
    group: Group::Docs,
    level: Level::Info,
    summary: "the server's version is one that a bug report can name",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Initialization"),
    why: "Users report a fault of version 0.0.0, and nobody knows which build it was.",
    fix: "Take the version from the package at build time.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

const PLACEHOLDERS: [&str; 8] = ["", "0", "0.0", "0.0.0", "dev", "unknown", "none", "version"];

fn check(case: &Case<'_>) -> Verdict {
    let (introduced, pointer, info) = identity(case)?;
    let version = info.get("version").and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
    if PLACEHOLDERS.contains(&version.as_str()) {
        let message = format!("the version `{version}` says nothing");
        return Ok(vec![introduced.finding(message, &format!("{pointer}/version"))]);
    }
    Ok(Vec::new())
}

fn identity<'a>(case: &Case<'a>) -> Result<(Asked<'a>, &'static str, &'a Value), Skip> {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let pointer = match case.era() {
        Era::Legacy => "/result/serverInfo",
        Era::Modern => "/result/_meta/io.modelcontextprotocol~1serverInfo",
    };
    let info = introduced.answer().and_then(|answer| answer.pointer(pointer));
    info.map(|info| (introduced, pointer, info))
        .ok_or_else(|| Skip::not_verified("the server does not send its name and version"))
}
