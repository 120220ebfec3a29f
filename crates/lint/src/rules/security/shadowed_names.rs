//! `shadowed-names`: no two servers of a configuration have tools of the same or a look-alike name.

use super::texts;
use crate::{
    engine::Fleet,
    outcome::{Finding, Level, Skip, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "shadowed-names",
    group: Group::Security,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no two servers of a configuration have tools of the same or a look-alike name",
    clause: Clause::of("2025-11-25", "server/tools", "Tool Names"),
    why: "The model picks one by chance, or the one whose text is more inviting: a hostile server can take over the calls of another.",
    fix: "Put a prefix before the names of one server, or leave one of the two out.",
    needs: &[&LISTS],
    check: Check::Fleet(check),
};

fn check(fleet: &Fleet<'_>) -> Verdict {
    let tools = super::fleet_tools(fleet);
    if tools.is_empty() {
        return Err(Skip::not_verified("no server listed tools"));
    }
    let mut findings = Vec::new();
    for (at, (server, tool)) in tools.iter().enumerate() {
        for (other_server, other) in &tools[..at] {
            if server == other_server {
                continue;
            }
            let message = if tool == other {
                format!("both {other_server} and {server} have a tool `{tool}`")
            } else if texts::skeleton(tool) == texts::skeleton(other) {
                format!("`{tool}` of {server} looks like `{other}` of {other_server}")
            } else {
                continue;
            };
            let finding = Finding::new(message).about(format!("tool {tool}"));
            findings.push(if tool == other { finding } else { finding.level(Level::Error) });
        }
    }
    Ok(findings)
}
