//! `icon-source`: icons have a whole address, with its scheme.

use crate::{
    evidence::{Case, List, FrameRef},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "icon-source",
    group: Group::Docs,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "icons have a whole address, with its scheme",
    clause: Clause::of("2025-11-25", "basic", "icons"),
    why: "A path alone leads nowhere: clients do not know what it counts from, and show no icon.",
    fix: "Write the whole `https:` address, or put the image into a `data:` URI.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
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
            // Addresses with a scheme are the matter of `icon-addresses`.
            if source.split('/').next().is_some_and(|head| head.contains(':')) {
                continue;
            }
            let shown: String = source.chars().take(60).collect();
            let finding = Finding::new(format!("clients do not load the icon from `{shown}`")).about(label.clone());
            findings.push(finding.at(frame, format!("{pointer}/icons/{index}/src")));
        }
    }
    Ok(findings)
}

/// Everything that may have icons: what it is called, the frame, the pointer, the value.
fn owners<'a>(case: &Case<'a>) -> Vec<(String, FrameRef, String, &'a Value)> {
    let mut owners = Vec::new();
    for list in List::ALL {
        for item in case.list(list).unwrap_or_default() {
            owners.push((item.label(), item.frame, item.pointer.clone(), item.value));
        }
    }
    for pointer in ["/result/serverInfo", "/result/_meta/io.modelcontextprotocol~1serverInfo"] {
        if let Some(introduced) = case.introduced()
            && let (Some(frame), Some(info)) = (introduced.answer_ref(), introduced.answer().and_then(|it| it.pointer(pointer)))
        {
            owners.push(("server".to_owned(), frame, pointer.to_owned(), info));
        }
    }
    owners.retain(|(.., value)| value.get("icons").is_some());
    owners
}
