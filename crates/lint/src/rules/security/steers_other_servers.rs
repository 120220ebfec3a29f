//! `steers-other-servers`: no text speaks about the tools of another server.

use super::words;
use crate::{
    engine::Fleet,
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "steers-other-servers",
    group: Group::Security,
    level: Level::Error,
    summary: "no text speaks about the tools of another server",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "One server changes how the tools of another are used: where mail goes, what is read, which tool is avoided.",
    fix: "Describe your own tools only.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Fleet(check),
    ..Rule::USUAL
};

/// Shorter names may be ordinary words.
const SHORTEST: usize = 6;

fn check(fleet: &Fleet<'_>) -> Verdict {
    let tools = super::fleet_tools(fleet);
    if tools.is_empty() {
        return Err(Skip::not_verified("no server listed tools"));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for server in &fleet.servers {
        let Some(case) = server.cases().last() else { continue };
        for text in words::all(&case).unwrap_or_default() {
            let foreign = tools.iter().find(|(owner, tool)| {
                *owner != server.target
                    && tool.len() >= SHORTEST
                    && tool.contains(['_', '-', '.'])
                    && !tools.iter().any(|(other, known)| *other == server.target && known == tool)
                    && named(text.content, tool)
            });
            if let Some((owner, tool)) = foreign {
                let message = format!("it speaks about `{tool}` of {owner}");
                findings.push(
                    Finding::new(message)
                        .about(format!("{} of {}", text.about, server.target))
                        .note(text.content.chars().take(200).collect::<String>()),
                );
            }
        }
    }
    Ok(findings)
}

/// True if the text contains the name as a separate word.
fn named(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        !text[..at].chars().next_back().is_some_and(part)
            && !text[at + name.len()..].chars().next().is_some_and(part)
    })
}
