//! `definitions-stable`: tool definitions do not change within a session without a notification.

use crate::{
    evidence::Item,
    probes::{LISTS, LISTS_AGAIN, TOOLS_AGAIN_STEP},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "definitions-stable",
    group: Group::Security,
    level: Level::Critical,
    summary: "the definition of a tool does not change within a session without a `list_changed` notification",
    clause: Clause::of("2025-11-25", "server/tools", "List Changed Notification"),
    why: "A tool that was reviewed and then changes its description or schema can steer the model without anybody noticing (rug pull).",
    fix: "Keep definitions constant, or send `notifications/tools/list_changed` when they change.",
    needs: &[&LISTS, &LISTS_AGAIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let told =
        case.messages().iter().any(|message| message.method() == Some("notifications/tools/list_changed"));
    let mut findings: Vec<Finding> = Vec::new();
    case.first(&LISTS_AGAIN, TOOLS_AGAIN_STEP)?;
    for again in lists(case) {
        let later = again.result().and_then(|result| result.get("tools")?.as_array());
        for (index, tool) in later.into_iter().flatten().enumerate() {
            let name = tool.get("name").and_then(Value::as_str);
            let same = |item: &&Item<'_>| item.text("name") == name && again.is_on(item.frame.line);
            let Some(before) = tools.iter().find(same) else { continue };
            let known =
                findings.iter().any(|finding| finding.about.as_deref() == Some(before.label().as_str()));
            if before.value != tool && !told && !known {
                let message = "its definition changed between two lists, and no notification said so";
                let finding = again.finding(message, &format!("/result/tools/{index}"));
                findings.push(finding.about(before.label()).with_frame(before.frame));
            }
        }
    }
    Ok(findings)
}

/// The tool lists of all probes, because a change may happen late.
fn lists<'a>(case: &Case<'a>) -> impl Iterator<Item = Asked<'a>> {
    let evidence = case.evidence();
    let all = case.lines().flat_map(move |(index, line)| {
        line.exchanges.iter().map(move |exchange| Asked::new(evidence, index, exchange))
    });
    all.filter(|asked| {
        let sent = asked.sent().and_then(|sent| sent.json());
        sent.is_some_and(|sent| sent["method"] == "tools/list" && sent["params"].get("cursor").is_none())
    })
}
