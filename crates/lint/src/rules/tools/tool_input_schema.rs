//! `tool-input-schema`: every tool has a name and an object schema for its arguments.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "tool-input-schema",
    group: Group::Tools,
    level: Level::Error,
    summary: "every tool has a name and an `inputSchema` whose root is of type object",
    clause: Clause::of("2025-11-25", "server/tools", "Tool"),
    why: "Clients drop such a tool, or refuse the whole list.",
    fix: "Give the tool a string `name` and an `inputSchema` with `\"type\": \"object\"`, also when it takes no arguments.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        if tool.text("name").is_none_or(str::is_empty) {
            findings.push(tool.finding("the tool has no name", "/name"));
        }
        match tool.value.get("inputSchema") {
            None => findings.push(tool.finding("the tool has no `inputSchema`", "/inputSchema")),
            Some(schema) if !schema.is_object() => {
                findings.push(tool.finding("`inputSchema` is not an object", "/inputSchema"));
            }
            Some(schema) if schema.get("type").is_none_or(|kind| kind != "object") => {
                findings.push(
                    tool.finding("the root of `inputSchema` is not of type object", "/inputSchema/type"),
                );
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}
