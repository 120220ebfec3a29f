//! `confusable-tools`: tools can be told apart.

use crate::{
    evidence::{Case, Item, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::words,
};

pub(super) static RULE: Rule = Rule {
    name: "confusable-tools",
    group: Group::Docs,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no two tools have nearly the same name or description",
    clause: Clause::practice("practice", "texts for models"),
    why: "A model that cannot tell two tools apart calls the wrong one half of the time.",
    fix: "Say in each description what the tool does that the other does not, or merge them with a parameter.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

/// Above this, two descriptions say the same.
const ALIKE: f64 = 0.9;
/// Shorter texts are alike by chance.
const LEAST: usize = 30;
/// Tools that are compared, each with each.
const COMPARED: usize = 200;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let tools = &tools[..tools.len().min(COMPARED)];
    let mut findings = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let earlier = tools[..index].iter().find_map(|other| Some((other, likeness(tool, other)?)));
        if let Some((other, what)) = earlier {
            let message = format!("{what} `{}`", other.text("name").unwrap_or_default());
            let at = if what.starts_with("the name") { "/name" } else { "/description" };
            findings.push(tool.finding(message, at).with_frame(other.frame));
        }
    }
    Ok(findings)
}

fn likeness(tool: &Item<'_>, other: &Item<'_>) -> Option<&'static str> {
    let (name, other_name) = (tool.text("name")?, other.text("name")?);
    if name == other_name {
        // One name twice is the matter of another rule.
        return None;
    }
    if words::words(name) == words::words(other_name) {
        return Some("the name differs only in style from");
    }
    let (text, other_text) = (tool.text("description")?, other.text("description")?);
    let long = text.chars().count() >= LEAST && other_text.chars().count() >= LEAST;
    (long && words::similarity(text, other_text) > ALIKE).then_some("the description is nearly that of")
}
