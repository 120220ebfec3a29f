//! `remote-references`: schemas have no remote references.

use crate::{probes::LISTS, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "remote-references",
    group: Group::Tools,
    level: Level::Warning,
    summary: "no schema refers to another document",
    clause: Clause::of("2026-07-28", "basic", "$ref Resolution"),
    why: "Clients must not fetch schemas from the network, so such a reference cannot be followed.",
    fix: "Copy the referenced schema into `$defs` and refer to it by `#/$defs/…`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.value.get(member) else { continue };
            let mut stack = vec![(schema, format!("/{member}"))];
            while let Some((value, at)) = stack.pop() {
                match value {
                    Value::Object(members) => {
                        let reference = members.get("$ref").and_then(Value::as_str);
                        if let Some(reference) = reference.filter(|reference| !reference.starts_with('#')) {
                            let message =
                                format!("`{member}` refers to `{reference}`, which is another document");
                            findings.push(tool.finding(message, &format!("{at}/$ref")));
                        }
                        stack.extend(members.iter().map(|(name, value)| (value, format!("{at}/{name}"))));
                    }
                    Value::Array(items) => {
                        stack.extend(
                            items.iter().enumerate().map(|(index, value)| (value, format!("{at}/{index}"))),
                        );
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(findings)
}
