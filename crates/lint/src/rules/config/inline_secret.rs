//! `inline-secret`: a configuration refers to secrets and does not hold them.

use super::servers;
use crate::{
    engine::ConfigSubject,
    outcome::{Level, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "inline-secret",
    group: Group::Config,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a configuration refers to secrets and does not hold them",
    clause: Clause::practice("OWASP MCP Top 10", "MCP01 secret exposure"),
    why: "Configurations are shared, committed and copied into bug reports, and the secret goes with them.",
    fix: "Refer to a variable (`${NAME}`) or to the system's key store, and replace the secret at its issuer.",
    needs: &[],
    check: Check::Config(check),
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers(config)? {
        for (place, value) in server.secrets() {
            findings.push(server.finding(format!("it is written out: {value}")).about(format!("{}, {place}", server.name)));
        }
    }
    Ok(findings)
}
