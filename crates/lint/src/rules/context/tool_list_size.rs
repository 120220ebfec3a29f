//! `tool-list-size`: the tool list leaves room for the conversation.

use crate::{probes::LISTS, report::estimate_tool, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-list-size",
    group: Group::Context,
    level: Level::Warning,
    summary: "the tools take at most 10,000 tokens of what the model reads, and there are at most 40",
    clause: Clause::practice("client limits", "context cost"),
    why: "Clients send name, description and input schema of every tool to the model with every request: it costs money and attention before anything is asked, and some clients cut it off.",
    fix: "Shorten descriptions and schemas, merge tools that differ by one parameter, or let users choose groups of tools.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const WARN_TOKENS: usize = 10_000;
const ERROR_TOKENS: usize = 25_000;
const WARN_TOOLS: usize = 40;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let total: usize = tools.iter().map(|tool| estimate_tool(tool.value)).sum();
    let mut findings = Vec::new();
    let Some(first) = tools.first() else { return Ok(findings) };
    if total > WARN_TOKENS {
        let message = format!(
            "the {} tools take about {total} tokens of names, descriptions and input schemas",
            tools.len()
        );
        let level = if total > ERROR_TOKENS { Level::Error } else { Level::Warning };
        findings.push(Finding::new(message).at(first.frame, "/result/tools").level(level));
    }
    if tools.len() > WARN_TOOLS {
        let message =
            format!("the server has {} tools; some clients take no more than {WARN_TOOLS}", tools.len());
        findings.push(Finding::new(message).at(first.frame, "/result/tools"));
    }
    Ok(findings)
}
