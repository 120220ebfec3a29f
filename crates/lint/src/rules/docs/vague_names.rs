//! `vague-names`: tool names are meaningful.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*, rules::words};

pub(super) static RULE: Rule = Rule {
    name: "vague-names",
    group: Group::Docs,
    level: Level::Info,
    summary: "names of tools say what the tool does",
    clause: Clause::practice("practice", "texts for models"),
    why: "Users approve calls by name, and a model chooses by it first.",
    fix: "Name the tool by verb and object: `read_file`, `search_issues`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const VAGUE: [&str; 18] = [
    "tool", "test", "run", "do", "execute", "process", "handle", "main", "function", "action", "call",
    "helper", "util", "utils", "foo", "bar", "mytool", "stuff",
];

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let vague = |tool: &&Item<'_>| {
        let name = words::words(tool.text("name").unwrap_or_default());
        let word = |word: &String| {
            VAGUE.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()))
                || word.bytes().all(|b| b.is_ascii_digit())
        };
        !name.is_empty() && name.iter().all(word)
    };
    Ok(tools
        .iter()
        .filter(vague)
        .map(|tool| tool.finding("the name says nothing about what it does", "/name"))
        .collect())
}
