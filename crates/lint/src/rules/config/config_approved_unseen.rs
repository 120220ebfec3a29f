//! `config-approved-unseen`: no server has all its tools approved in advance.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-approved-unseen",
    group: Group::Config,
    level: Level::Warning,
    summary: "no server has all its tools approved beforehand",
    clause: Clause::of("2025-11-25", "server/tools", "User Interaction Model"),
    why: "Nobody looks at a call before it is made, not even at those of tools that the server adds later.",
    fix: "Name the harmless tools one by one.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let open = ["alwaysAllow", "autoApprove", "autoapprove", "always_allow"].into_iter().find(|member| {
            let value = &server.value[*member];
            *value == true
                || *value == "*"
                || value.as_array().is_some_and(|items| items.iter().any(|item| item == "*"))
        });
        let trusted = (server.value["trust"] == true).then_some("trust");
        if let Some(member) = open.or(trusted) {
            findings.push(server.wrong(format!("`{member}` approves every tool")));
        }
    }
    Ok(findings)
}
