//! `tool-name-portable`: names of tools fit into what clients make of them.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-name-portable",
    group: Group::Tools,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "names of tools have no dot and at most 46 characters, so that clients can put the server's name in front",
    clause: Clause::practice("client limits", "tool names"),
    why: "Clients send the name to the model with a prefix of their own; most providers allow 64 characters and no dot, and refuse the whole list otherwise.",
    fix: "Shorten the name, and use `_` instead of a dot.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

/// Of the 64 characters that providers allow, clients use up to 18 for their prefix.
const LONGEST: usize = 64 - 18;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(name) = tool.text("name") else { continue };
        let length = name.chars().count();
        if length > LONGEST {
            let message = format!("the name has {length} characters; with a client's prefix it may not fit into 64");
            findings.push(tool.finding(message, "/name"));
        }
        if name.contains('.') {
            findings.push(tool.finding("some clients refuse a dot in the name", "/name"));
        }
    }
    Ok(findings)
}
