//! `icon-source`: icons have an absolute URL.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::{icons::owners, prelude::*},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "icon-source",
    group: Group::Docs,
    level: Level::Warning,
    summary: "icons have a whole address, with its scheme",
    clause: Clause::of("2025-11-25", "basic", "icons"),
    why: "A path alone leads nowhere: clients do not know what it counts from, and show no icon.",
    fix: "Write the whole `https:` address, or put the image into a `data:` URI.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let owners = owners(case);
    if owners.is_empty() {
        return Err(Skip::not_applicable("nothing has icons"));
    }
    let mut findings = Vec::new();
    for (label, frame, pointer, value) in owners {
        for (index, icon) in value["icons"].as_array().into_iter().flatten().enumerate() {
            let Some(source) = icon.get("src").and_then(Value::as_str) else { continue };
            // `icon-addresses` checks URLs with a scheme.
            if source.split('/').next().is_some_and(|head| head.contains(':')) {
                continue;
            }
            let shown: String = source.chars().take(60).collect();
            let finding =
                Finding::new(format!("clients do not load the icon from `{shown}`")).about(label.clone());
            findings.push(finding.at(frame, format!("{pointer}/icons/{index}/src")));
        }
    }
    Ok(findings)
}
