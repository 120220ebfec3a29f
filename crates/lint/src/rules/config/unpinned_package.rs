//! `unpinned-package`: packages that a server is started from are pinned to a version.

use super::servers;
use crate::{
    engine::ConfigSubject,
    outcome::{Level, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "unpinned-package",
    group: Group::Config,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "packages that a server is started from are pinned to a version",
    clause: Clause::practice("OWASP MCP Top 10", "MCP04 supply chain"),
    why: "Every start may fetch and run another program than the one that was tried; one stolen publisher account is enough.",
    fix: "Write the version behind the name, such as `npx -y name@1.2.3`, `uvx name==1.2.3` or an image digest.",
    needs: &[],
    check: Check::Config(check),
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers(config)? {
        let Some(package) = server.package() else { continue };
        if package.version.is_none() {
            findings.push(server.finding(format!("`{}` is started in whatever version is newest", package.name)));
        }
    }
    Ok(findings)
}
