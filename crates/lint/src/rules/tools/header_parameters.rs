//! `header-parameters`: `x-mcp-header` follows its rules.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "header-parameters",
    group: Group::Tools,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "`x-mcp-header` is a unique header name on a plain property that is reached through `properties` only",
    clause: Clause::of("2026-07-28", "server/tools", "x-mcp-header"),
    why: "Clients over HTTP must leave a tool out of the list when its header parameters break the rules.",
    fix: "Use a token such as `Region`, once per schema, on properties of type string, integer or boolean; never for secrets.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const UNREACHABLE: &str = "`x-mcp-header` is at a place that `properties` does not reach";

const SECRET: [&str; 6] = ["token", "password", "secret", "apikey", "api_key", "credential"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(schema) = tool.value.get("inputSchema") else { continue };
        let mut seen = BTreeSet::new();
        let mut stack = vec![(schema, "/inputSchema".to_owned(), true)];
        while let Some((value, at, reachable)) = stack.pop() {
            let Value::Object(members) = value else { continue };
            let verdict = match members.get("x-mcp-header") {
                None => None,
                Some(_) if !reachable => Some((UNREACHABLE, Level::Error)),
                Some(header) => judge(header, members.get("type"), &at, &mut seen),
            };
            if let Some((wrong, level)) = verdict {
                findings.push(tool.finding(wrong, &format!("{at}/x-mcp-header")).level(level));
            }
            for (name, inner) in members {
                if name == "properties" {
                    let properties = inner.as_object().into_iter().flatten();
                    stack.extend(
                        properties.map(|(name, value)| (value, format!("{at}/properties/{name}"), reachable)),
                    );
                } else if inner.is_object() {
                    stack.push((inner, format!("{at}/{name}"), false));
                }
            }
        }
    }
    Ok(findings)
}

fn judge(
    header: &Value,
    kind: Option<&Value>,
    at: &str,
    seen: &mut BTreeSet<String>,
) -> Option<(&'static str, Level)> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let Some(name) = header.as_str().filter(|name| !name.is_empty() && name.chars().all(token)) else {
        return Some(("`x-mcp-header` is not the name of a header", Level::Error));
    };
    if !kind.and_then(Value::as_str).is_some_and(|kind| matches!(kind, "string" | "integer" | "boolean")) {
        return Some((
            "`x-mcp-header` stands on a property that is no string, integer or boolean",
            Level::Error,
        ));
    }
    if !seen.insert(name.to_lowercase()) {
        return Some(("the same `x-mcp-header` stands twice", Level::Error));
    }
    let property = at.rsplit('/').next().unwrap_or_default().to_lowercase();
    let secret = SECRET.iter().any(|word| property.contains(word));
    secret.then_some((
        "a parameter that looks like a secret travels in a header, where proxies log it",
        Level::Warning,
    ))
}
