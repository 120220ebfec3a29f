//! `resource-annotations`: annotations of resources have the specified form.

use crate::{
    probes::LISTS,
    rules::{prelude::*, resources_and_templates},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-annotations",
    group: Group::Resources,
    level: Level::Error,
    summary: "`audience`, `priority` and `lastModified` of resources and templates are of the form that the protocol gives them",
    clause: Clause::of("2025-11-25", "server/resources", "Annotations"),
    why: "Typed clients refuse the whole list for one value that does not fit.",
    fix: "Write `audience` as a list of `user` and `assistant`, `priority` as a number from 0 to 1, `lastModified` as an ISO 8601 time.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for item in resources_and_templates(case)? {
        let Some(annotations) = item.value.get("annotations") else { continue };
        if !annotations.is_object() {
            findings.push(item.finding("`annotations` is not an object", "/annotations"));
        }
        let role = |value: &Value| value == "user" || value == "assistant";
        let audience = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(role));
        if annotations.get("audience").is_some_and(|value| !audience(value)) {
            let message = "`audience` is not a list of `user` and `assistant`";
            findings.push(item.finding(message, "/annotations/audience"));
        }
        let share = |value: &Value| value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number));
        if annotations.get("priority").is_some_and(|value| !share(value)) {
            findings.push(item.finding("`priority` is not a number from 0 to 1", "/annotations/priority"));
        }
        if annotations
            .get("lastModified")
            .is_some_and(|value| value.as_str().is_none_or(|text| !is_time(text)))
        {
            let message = "`lastModified` is not an ISO 8601 time";
            findings.push(item.finding(message, "/annotations/lastModified").level(Level::Warning));
        }
    }
    Ok(findings)
}

/// True for a date, alone or followed by a time.
fn is_time(text: &str) -> bool {
    let shape = |text: &str, form: &str| {
        text.len() == form.len()
            && text
                .bytes()
                .zip(form.bytes())
                .all(|(is, want)| if want == b'0' { is.is_ascii_digit() } else { is == want })
    };
    let date = text.get(..10).is_some_and(|date| shape(date, "0000-00-00"));
    date && (text.len() == 10 || text.get(10..16).is_some_and(|time| shape(time, "T00:00")))
}
