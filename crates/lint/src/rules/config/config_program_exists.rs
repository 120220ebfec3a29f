//! `config-program-exists`: every server's program exists.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-program-exists",
    group: Group::Config,
    level: Level::Error,
    summary: "every server is started with a program that is there",
    clause: Clause::practice("practice", "configuration"),
    why: "The server cannot start, and most clients tell no more than that it is not there.",
    fix: "Install the program, or write its absolute path; `trunkline doctor` says where it was looked for.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let servers = servers::of(config)?;
    let Some(absent) = &config.absent else {
        return Err(Skip::not_verified("the programs were not searched for"));
    };
    let started = servers.iter().filter_map(|server| Some((server, server.command()?)));
    let mut findings = Vec::new();
    for (server, program) in started {
        if absent.iter().any(|known| known == program) {
            findings.push(server.finding(format!("there is no program `{program}`"), "/command"));
        }
    }
    Ok(findings)
}
