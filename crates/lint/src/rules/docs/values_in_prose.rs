//! `values-in-prose`: allowed values are in the schema, not only in the description.

use crate::{pointer, probes::LISTS, rules::prelude::*, rules::schema};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "values-in-prose",
    group: Group::Docs,
    level: Level::Info,
    summary: "parameters whose description lists the allowed values have an `enum`",
    clause: Clause::practice("practice", "texts for models"),
    why: "A model keeps to an `enum`, and clients can show a choice; prose it may overlook.",
    fix: "Add the values as `enum`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SIGNS: [&str; 8] = [
    "one of",
    "allowed values",
    "valid values",
    "possible values",
    "valid options",
    "options are",
    "must be either",
    "accepts either",
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        for (name, property) in schema::properties(root) {
            let open = property.get("type").is_some_and(|kind| kind == "string")
                && ["enum", "const", "pattern", "format"]
                    .iter()
                    .all(|keyword| property.get(keyword).is_none());
            let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let lower = text.to_lowercase();
            let listed = SIGNS.iter().find_map(|sign| lower.find(sign)).map_or(0, |at| quoted(&lower[at..]));
            if open && listed >= 2 {
                let message =
                    format!("the description of `{name}` lists {listed} values, and there is no `enum`");
                findings.push(tool.finding(
                    message,
                    &format!("/inputSchema/properties/{}/description", pointer::escape(name)),
                ));
            }
        }
    }
    Ok(findings)
}

/// Number of quoted words.
fn quoted(text: &str) -> usize {
    ['"', '\'', '`'].into_iter().map(|quote| text.matches(quote).count() / 2).max().unwrap_or(0)
}
