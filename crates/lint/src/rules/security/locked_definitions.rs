//! `locked-definitions`: the tools are the ones that the lock file pins.

use crate::{
    engine::LockSubject,
    evidence::{Case, List},
    outcome::{Finding, Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "locked-definitions",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the tools are the ones that the lock file pins",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "What was reviewed and approved is not what runs now; a harmless server may have been replaced by a hostile one.",
    fix: "Look at the difference; if it is meant, write the lock file anew.",
    needs: &[&LISTS],
    check: Check::Lock(check),
};

fn check(case: &Case<'_>, lock: &LockSubject) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut findings = Vec::new();
    for tool in &tools {
        let Some(name) = tool.text("name") else { continue };
        match lock.tools.iter().find(|(known, _)| known == name) {
            None => findings.push(tool.finding(format!("it is not in {}", lock.path), "/name").level(Level::Warning)),
            Some((_, pinned)) if pinned != tool.value => {
                let names = pinned.as_object().into_iter().chain(tool.value.as_object()).flat_map(|members| members.keys());
                let member = names.into_iter().find(|name| pinned.get(name.as_str()) != tool.value.get(name.as_str()));
                let member = member.cloned().unwrap_or_default();
                let finding = tool.finding(format!("the {member} is not as {} pins it", lock.path), &format!("/{member}"));
                findings.push(finding.note(format!("pinned: {}", pinned.get(&member).unwrap_or(&Value::Null))));
            }
            Some(_) => {}
        }
    }
    for (name, _) in &lock.tools {
        if tools.iter().all(|tool| tool.text("name") != Some(name)) {
            findings.push(Finding::new(format!("it is in {} and gone from the server", lock.path)).about(format!("tool {name}")).level(Level::Info));
        }
    }
    Ok(findings)
}
