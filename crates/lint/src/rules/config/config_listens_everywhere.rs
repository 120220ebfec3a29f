//! `config-listens-everywhere`: no server is configured to listen on all interfaces.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-listens-everywhere",
    group: Group::Config,
    level: Level::Warning,
    summary: "no server is configured to listen on all interfaces",
    clause: Clause::of("2025-11-25", "basic/transports", "Security Warning"),
    why: "Everyone in the same network can use a server that was meant for its user alone.",
    fix: "Use `127.0.0.1` as the address to listen on.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let args = server.args();
        let open = |value: &str| {
            value == "0.0.0.0"
                || value == "::"
                || value.starts_with("0.0.0.0:")
                || value.ends_with("=0.0.0.0")
        };
        let container = matches!(server.program(), Some("docker" | "podman"));
        let by_argument = args.iter().any(|arg| open(arg));
        let by_variable = server
            .env()
            .into_iter()
            .any(|(name, value)| name.to_ascii_uppercase().contains("HOST") && open(value));
        if (by_argument || by_variable) && !container {
            findings.push(server.wrong("it listens on all interfaces"));
        }
    }
    Ok(findings)
}
