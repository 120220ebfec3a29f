//! `config-duplicate-server`: no server is configured twice.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-duplicate-server",
    group: Group::Config,
    level: Level::Warning,
    summary: "no server is configured twice",
    clause: Clause::practice("practice", "configuration"),
    why: "Every tool is there twice: it costs context, and the model picks one by chance.",
    fix: "Remove one of the two entries.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let all = servers::of(config)?;
    let mut findings = Vec::new();
    for (at, server) in all.iter().enumerate() {
        let same = |other: &&servers::Server<'_>| {
            ["command", "args", "url"]
                .iter()
                .all(|member| other.value.get(member) == server.value.get(member))
                && other.value.get("env") == server.value.get("env")
        };
        if let Some(other) = all[..at].iter().find(same) {
            findings.push(server.wrong(format!("it is the same server as {}", other.name)));
        }
    }
    Ok(findings)
}
