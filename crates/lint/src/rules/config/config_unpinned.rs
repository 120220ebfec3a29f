//! `config-unpinned`: packages have a pinned version.

use super::servers;
use crate::{
    engine::{ConfigSubject, Dialect},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "config-unpinned",
    group: Group::Config,
    level: Level::Warning,
    summary: "packages that are fetched at start have a fixed version",
    clause: Clause::practice("configuration", "servers"),
    why: "An attacker who takes over the package runs code on this machine at the next start.",
    fix: "Write the version: `npx -y package@1.2.3`, `uvx package==1.2.3`.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

/// The fix in the syntax of the file.
fn fix(dialect: Dialect, program: &str, package: &str) -> String {
    let mark = if matches!(program, "uvx" | "pipx") { "==" } else { "@" };
    let package = package.strip_suffix("@latest").unwrap_or(package);
    match dialect {
        Dialect::Ours => {
            format!("Write the version: `\"command\": [\"{program}\", …, \"{package}{mark}1.2.3\"]`.")
        }
        _ => format!("Write the version: `\"args\": […, \"{package}{mark}1.2.3\"]`."),
    }
}

const RUNNERS: [&str; 5] = ["npx", "bunx", "pnpx", "uvx", "pipx"];

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let words = server.words();
        let Some((program, rest)) = words.split_first() else { continue };
        let program = program.rsplit('/').next().unwrap_or_default();
        if !RUNNERS.contains(&program) {
            continue;
        }
        let package = rest.iter().find(|word| !word.starts_with('-') && **word != "run" && **word != "--");
        let Some(package) = package else { continue };
        let version = package.trim_start_matches('@').split_once(['@', '=']).map(|(_, version)| version);
        if version.is_none_or(|version| version.is_empty() || version == "latest")
            && !package.starts_with('.')
        {
            let message = format!("`{package}` is fetched in whatever version is newest");
            findings.push(server.finding(message, "").fix(fix(config.dialect(), program, package)));
        }
    }
    Ok(findings)
}
