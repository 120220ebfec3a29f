//! `icon-shape`: icons have the specified form.

use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::{icons::owners, prelude::*},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "icon-shape",
    group: Group::Docs,
    level: Level::Error,
    summary: "`icons` is a list of objects with a string `src`, and `mimeType`, `sizes` and `theme` of the right types",
    clause: Clause::of("2025-11-25", "basic", "icons"),
    why: "Typed clients refuse the whole list for one icon that does not fit.",
    fix: "Write `\"icons\": [{\"src\": \"https://…\", \"mimeType\": \"image/png\", \"sizes\": [\"48x48\"]}]`.",
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
        let Some(icons) = value["icons"].as_array() else {
            let finding = Finding::new("`icons` is not a list").about(label);
            findings.push(finding.at(frame, format!("{pointer}/icons")));
            continue;
        };
        for (index, icon) in icons.iter().enumerate() {
            if let Some((below, message)) = flaw(icon) {
                let finding = Finding::new(message).about(label.clone());
                findings.push(finding.at(frame, format!("{pointer}/icons/{index}{below}")));
            }
        }
    }
    Ok(findings)
}

fn flaw(icon: &Value) -> Option<(&'static str, &'static str)> {
    let size = |value: &Value| {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let text = value.as_str().unwrap_or_default();
        text == "any" || text.split_once('x').is_some_and(|(wide, high)| number(wide) && number(high))
    };
    if icon.get("src").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Some(("/src", "an icon has no `src`"));
    }
    if icon.get("mimeType").is_some_and(|value| !value.is_string()) {
        return Some(("/mimeType", "`mimeType` of an icon is not a string"));
    }
    if icon.get("sizes").is_some_and(|value| value.as_array().is_none_or(|sizes| !sizes.iter().all(size))) {
        return Some(("/sizes", "`sizes` of an icon is not a list of sizes such as `48x48` or `any`"));
    }
    let theme = icon.get("theme").is_some_and(|value| value != "light" && value != "dark");
    theme.then_some(("/theme", "`theme` of an icon is neither `light` nor `dark`"))
}
