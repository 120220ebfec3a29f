//! `server-identity`: a modern server sends its name and version.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "server-identity",
    group: Group::Lifecycle,
    level: Level::Info,
    eras: Eras::Modern,
    summary: "results carry the server's name and version in `_meta`",
    clause: Clause::of("2026-07-28", "basic", "_meta"),
    why: "Without it users see an address or a command line where the name of the server should stand, and bug reports lack the version.",
    fix: "Put `io.modelcontextprotocol/serverInfo` with `name` and `version` into the `_meta` of results.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let identity =
        introduced.result().and_then(|it| it.get("_meta")?.get("io.modelcontextprotocol/serverInfo"));
    let named = identity.is_some_and(|it| it["name"].is_string() && it["version"].is_string());
    if named {
        return Ok(Vec::new());
    }
    let message = "the result of `server/discover` does not say which server answers";
    Ok(vec![introduced.finding(message, "/result/_meta")])
}
