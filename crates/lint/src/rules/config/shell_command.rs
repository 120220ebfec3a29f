//! `shell-command`: servers are started as programs, not as lines for a shell.

use super::servers;
use crate::{
    engine::ConfigSubject,
    outcome::{Level, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "shell-command",
    group: Group::Config,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "servers are started as programs, not as lines for a shell",
    clause: Clause::practice("OWASP MCP Top 10", "MCP05 command injection"),
    why: "A line for a shell runs whatever its parts become; one that fetches a script runs what a stranger wrote a moment ago.",
    fix: "Name the program in `command` and its arguments in `args`; install programs before, and pinned.",
    needs: &[],
    check: Check::Config(check),
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers(config)? {
        let Some(program) = server.program() else { continue };
        let shell = matches!(program, "sh" | "bash" | "zsh" | "dash" | "fish" | "cmd" | "cmd.exe" | "powershell" | "pwsh");
        let line = server.args().into_iter().skip_while(|arg| !matches!(*arg, "-c" | "/c" | "/C" | "-Command")).nth(1);
        let (true, Some(line)) = (shell, line) else { continue };
        // On Windows clients start npx this way, because it is no program there.
        if program.starts_with("cmd") && line == "npx" {
            continue;
        }
        let fetches = ["curl", "wget", "iwr", "Invoke-WebRequest"].iter().any(|word| line.contains(word)) && (line.contains('|') || line.contains("iex"));
        findings.push(if fetches {
            server.finding("it runs a script that it fetches from the network").level(Level::Critical)
        } else {
            server.finding(format!("it is started by {program} from a line"))
        });
    }
    Ok(findings)
}
