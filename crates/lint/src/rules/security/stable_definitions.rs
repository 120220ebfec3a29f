//! `stable-definitions`: a tool does not change while it is in use, unless the server says so.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, RELIST, RELIST_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "stable-definitions",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a tool does not change while it is in use, unless the server says so",
    clause: Clause::of("2025-11-25", "server/tools", "List Changed Notification"),
    why: "The user approved another tool than the one that is now called: a server can become hostile after it was trusted.",
    fix: "Keep definitions constant for a session, and send `notifications/tools/list_changed` when they must change.",
    needs: &[&LISTS, &RELIST],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let again = case.all(&RELIST, RELIST_STEP)?;
    if again.iter().all(|page| page.result().is_none()) {
        return Err(Skip::not_verified("the second list failed"));
    }
    let told = case.messages().iter().any(|message| message.method() == Some("notifications/tools/list_changed"));
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(name) = tool.text("name") else { continue };
        for page in &again {
            let items = page.result().and_then(|result| result["tools"].as_array()).into_iter().flatten();
            let found = items.into_iter().enumerate().find(|(_, other)| other["name"] == name);
            if let Some((index, other)) = found.filter(|(_, other)| *other != tool.value) {
                let member = changed(tool.value, other);
                let message = format!("the {member} changed between two lists");
                let finding = page.finding(message, &format!("/result/tools/{index}")).about(tool.label()).with_frame(tool.frame);
                findings.push(if told { finding.level(Level::Info) } else { finding });
            }
        }
    }
    Ok(findings)
}

fn changed(before: &Value, after: &Value) -> String {
    let names = before.as_object().into_iter().chain(after.as_object()).flat_map(|members| members.keys());
    names.into_iter().find(|name| before.get(name.as_str()) != after.get(name.as_str())).cloned().unwrap_or_default()
}
