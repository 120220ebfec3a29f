//! `prompt-name-portable`: names of prompts can be typed.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "prompt-name-portable",
    group: Group::Prompts,
    level: Level::Info,
    summary: "names of prompts have 1 to 64 characters of `A-Z a-z 0-9 _ - .`",
    clause: Clause::practice("client limits", "prompt names"),
    why: "Clients offer prompts as slash commands; a blank or another character in the name cannot be typed there.",
    fix: "Rename the prompt and put the readable form into `title`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const LONGEST: usize = 64;

fn check(case: &Case<'_>) -> Verdict {
    let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let odd = |name: &str| name.chars().count() > LONGEST || !name.chars().all(right);
    let prompts = case.list(List::Prompts)?;
    let odd = prompts.iter().filter(|prompt| prompt.text("name").is_some_and(odd));
    Ok(odd
        .map(|prompt| prompt.finding("the name cannot be typed as a slash command in all clients", "/name"))
        .collect())
}
