//! `steers-other-tools`: a tool's text gives no instructions about other tools.

use super::texts::{self, Text};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "steers-other-tools",
    group: Group::Security,
    level: Level::Error,
    summary: "no text tells the model how to use the tools of others",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "One server's description changes what another server's tool does; the user approved neither.",
    fix: "Describe this tool; leave other tools to their own descriptions.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    let tools = case.list(List::Tools).unwrap_or_default();
    let own: Vec<&str> = tools.iter().filter_map(|tool| tool.text("name")).collect();
    Ok(texts.iter().filter_map(|text| judge(text, &own)).collect())
}

const OTHERS: [&str; 8] = [
    "whenever another tool",
    "when using other tools",
    "when any other tool",
    "instead of the other",
    "all other tools must",
    "when you call other tools",
    "when another tool",
    "other servers' tools",
];

const WHEN: [&str; 5] = ["when ", "whenever ", "every time ", "each time ", "if "];

const ORDERS: [&str; 7] = ["always ", "must ", "never ", "make sure ", "ensure ", "also add", "bcc"];

fn judge(text: &Text<'_>, own: &[&str]) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    if let Some(found) = OTHERS.iter().find(|order| lower.contains(*order)) {
        return Some(text.finding(format!("the text steers other tools: {found:?}")));
    }
    let foreign = lower.split(['.', '\n', ';']).find_map(|sentence| {
        let ordered = WHEN.iter().any(|word| sentence.contains(word))
            && ORDERS.iter().any(|word| sentence.contains(word));
        ordered
            .then(|| named_tool(sentence))
            .flatten()
            .filter(|name| !own.iter().any(|tool| tool.to_lowercase() == *name))
    });
    foreign.map(|name| {
        text.finding(format!("the text says how to use `{name}`, a tool that is not this server's"))
    })
}

/// A name with an underscore next to the word "tool", as in `the tool send_email` or
/// `the send_email tool`.
fn named_tool(sentence: &str) -> Option<&str> {
    let words: Vec<&str> = sentence
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let tool = words.iter().enumerate().filter(|(_, word)| **word == "tool");
    let beside = tool.flat_map(|(at, _)| [at.checked_sub(1), Some(at + 1)]);
    beside.flatten().filter_map(|at| words.get(at).copied()).find(|word| word.contains('_'))
}
