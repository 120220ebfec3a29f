//! `config-shell`: servers are started without a shell.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-shell",
    group: Group::Config,
    level: Level::Error,
    summary: "no server is started through a shell",
    clause: Clause::practice("configuration", "servers"),
    why: "The shell interprets the command again: variables, quotes and `;` have unintended effects.",
    fix: "Name the program and its arguments one by one.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "fish", "cmd", "cmd.exe", "powershell"];

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let words = server.words();
        let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let script = words.iter().any(|word| matches!(*word, "-c" | "-lc" | "-Command"));
        if SHELLS.contains(&program) && script {
            findings.push(server.finding(format!("the server is started through `{program}`"), "/command"));
        }
    }
    Ok(findings)
}
