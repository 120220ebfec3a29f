//! `config-old-transport`: remote servers are reached over Streamable HTTP.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-old-transport",
    group: Group::Config,
    level: Level::Info,
    summary: "remote servers are reached over Streamable HTTP",
    clause: Clause::of("2025-11-25", "basic/transports", "Backwards Compatibility"),
    why: "HTTP+SSE was deprecated in 2025; clients drop it one by one, and the server is then not reachable.",
    fix: "Use the address of the server's Streamable HTTP endpoint, and the type `http`.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let said = ["type", "transport"].into_iter().any(|member| server.value[member] == "sse");
        let path = server.url().is_some_and(|url| url.path().ends_with("/sse"));
        if said || path {
            findings.push(server.wrong("it is reached over HTTP+SSE"));
        }
    }
    Ok(findings)
}
