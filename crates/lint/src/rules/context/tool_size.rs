//! `tool-size`: no tool definition is too large.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-size",
    group: Group::Context,
    level: Level::Info,
    summary: "one tool takes at most 1,000 tokens of what the model reads",
    clause: Clause::practice("client limits", "context cost"),
    why: "Its name, description and input schema are sent with every request, also when the tool is never used.",
    fix: "Shorten the description to what a model needs to choose and call the tool, and drop what the schema already says.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 1000;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let large = tools
        .iter()
        .map(|tool| (tool, crate::report::estimate_tool(tool.value)))
        .filter(|(_, tokens)| *tokens > MOST);
    Ok(large.map(|(tool, tokens)| tool.finding(format!("it takes about {tokens} tokens"), "")).collect())
}
