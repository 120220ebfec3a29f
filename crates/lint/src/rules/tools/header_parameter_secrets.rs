//! `header-parameter-secrets`: secrets do not travel as headers.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::{schema, words},
};

pub(super) static RULE: Rule = Rule {
    name: "header-parameter-secrets",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Modern,
    carriers: Carriers::Any,
    summary: "no parameter that looks like a secret has an `x-mcp-header`",
    clause: Clause::of("2026-07-28", "server/tools", "x-mcp-header"),
    why: "Headers are written to the logs of every proxy on the way.",
    fix: "Leave `x-mcp-header` off parameters that carry secrets; better, take secrets from the server's configuration.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

const SECRETS: [&str; 8] = ["password", "passwd", "secret", "token", "apikey", "credential", "credentials", "passphrase"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for node in schema::of_tool(&tool).iter().filter(|node| node.value.get("x-mcp-header").is_some()) {
            let name = node.pointer.rsplit('/').next().unwrap_or_default();
            let parts = words::words(name);
            let key = parts.windows(2).any(|two| matches!(two[0].as_str(), "api" | "access" | "private") && two[1] == "key");
            let plain = node.value.get("type").is_none_or(|kind| kind == "string");
            if plain && (key || parts.iter().any(|part| SECRETS.contains(&part.as_str()))) {
                let message = format!("`{name}` looks like a secret and travels as a header");
                findings.push(tool.finding(message, &format!("{}/x-mcp-header", node.pointer)));
            }
        }
    }
    Ok(findings)
}
