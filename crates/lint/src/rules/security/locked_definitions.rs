//! `locked-definitions`: tools match the accepted definitions.

use crate::{engine::LockSubject, evidence::Item, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "locked-definitions",
    group: Group::Security,
    level: Level::Error,
    summary: "every tool is defined as the lock file says",
    clause: Clause::practice("lock file", "tool definitions"),
    why: "A server that changes its tools after they were reviewed can make the model do what nobody approved (rug pull).",
    fix: "Look at what changed; if it is right, write the lock file again with `--write-lock`.",
    needs: &[&LISTS],
    check: Check::Lock(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>, lock: &LockSubject) -> Verdict {
    let tools = case.list(List::Tools)?;
    let mut findings = Vec::new();
    for tool in &tools {
        let name = tool.text("name").unwrap_or_default();
        match lock.tools.iter().find(|(known, _)| known == name) {
            None => {
                let message = format!("the tool is not in {}", lock.path);
                findings.push(tool.finding(message, "/name").level(Level::Warning));
            }
            Some((_, accepted)) => {
                if let Some(member) = changed(tool, accepted) {
                    let message = format!("`{member}` differs from what {} accepts", lock.path);
                    findings.push(tool.finding(message, &format!("/{member}")));
                }
            }
        }
    }
    for (name, _) in &lock.tools {
        if tools.iter().all(|tool| tool.text("name") != Some(name)) {
            let message = format!("the tool `{name}` of {} is gone", lock.path);
            findings.push(Finding::new(message).about(format!("tool {name}")).level(Level::Info));
        }
    }
    Ok(findings)
}

/// The first member that differs from the accepted definition.
fn changed(tool: &Item<'_>, accepted: &serde_json::Value) -> Option<&'static str> {
    let members = ["description", "inputSchema", "outputSchema", "annotations", "title"];
    members.into_iter().find(|member| tool.value.get(member) != accepted.get(member))
}
