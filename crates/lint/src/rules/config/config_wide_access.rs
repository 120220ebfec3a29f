//! `config-wide-access`: servers get access to one directory, not to the whole machine.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-wide-access",
    group: Group::Config,
    level: Level::Warning,
    summary: "servers get a folder, not the whole machine",
    clause: Clause::practice("OWASP MCP Top 10", "MCP02 privilege escalation"),
    why: "A model that was misled, or a server that was taken over, can then read and change everything.",
    fix: "Give the folder that is needed; start containers without `--privileged`, without the root folder and without the docker socket.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let args = server.args();
        let docker = matches!(server.program(), Some("docker" | "podman"));
        let message = if docker && args.contains(&"--privileged") {
            "it runs a container with all rights of the machine"
        } else if docker && args.iter().any(|arg| arg.contains("docker.sock")) {
            "it gives a container the docker socket"
        } else if docker
            && args
                .iter()
                .any(|arg| arg.starts_with("/:") || arg.contains("source=/,") || arg.contains("src=/,"))
        {
            "it gives a container the whole file system"
        } else if args.iter().any(|arg| arg.contains("filesystem"))
            && args.iter().any(|arg| matches!(*arg, "/" | "~" | "$HOME" | "${HOME}" | "C:\\" | "C:/"))
        {
            "it gives a file server everything"
        } else {
            continue;
        };
        findings.push(server.wrong(message));
    }
    Ok(findings)
}
