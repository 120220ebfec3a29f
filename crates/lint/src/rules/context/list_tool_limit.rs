//! `list-tool-limit`: tools that list things have a parameter for the number of results.

use crate::{
    probes::LISTS,
    rules::{prelude::*, schema, words},
};

pub(super) static RULE: Rule = Rule {
    name: "list-tool-limit",
    group: Group::Context,
    level: Level::Info,
    summary: "tools that list or search have a parameter that limits the result",
    clause: Clause::practice("client limits", "context cost"),
    why: "A search that finds thousands of things fills the context, and the client cuts the result off somewhere.",
    fix: "Add `limit` with a default, and a cursor or page for the rest.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const VERBS: [&str; 5] = ["list", "search", "find", "query", "browse"];
const LIMITS: [&str; 22] = [
    "limit", "max", "maximum", "count", "page", "cursor", "size", "first", "top", "offset", "head", "take",
    "n", "num", "number", "results", "per", "tail", "last", "start", "k", "depth",
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let name = words::words(tool.text("name").unwrap_or_default());
        // The verb is the first word, or the second after a product name.
        let lists = name.iter().take(2).any(|word| VERBS.contains(&word.as_str()));
        let Some(root) = tool.value.get("inputSchema") else { continue };
        let is_limit = |name: &str| words::words(name).iter().any(|word| LIMITS.contains(&word.as_str()));
        // A tool without parameters mostly returns a short list.
        let (mut any, mut limited) = (false, false);
        for (name, _) in schema::properties(root) {
            any = true;
            limited |= is_limit(name);
        }
        if lists && any && !limited {
            findings.push(tool.finding("it lists or searches without a limit", "/inputSchema/properties"));
        }
    }
    Ok(findings)
}
