//! `resource-contents`: contents have the specified form.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::{prelude::*, resource_reads},
};
use base64::Engine as _;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-contents",
    group: Group::Resources,
    level: Level::Error,
    summary: "each content has its URI and either `text` or valid base64 in `blob`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients refuse contents with neither or both, and show garbage for bad base64.",
    fix: "Return `text` for text and `blob` for anything else, standard base64 with padding.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in resource_reads(case)? {
        let Some(result) = asked.result() else { continue };
        let Some(contents) = result.get("contents").and_then(Value::as_array) else {
            findings
                .push(asked.finding("the result has no array `contents`", "/result").about(asked.variant()));
            continue;
        };
        for (index, content) in contents.iter().enumerate() {
            if let Some(wrong) = wrong(content) {
                findings
                    .push(asked.finding(wrong, &format!("/result/contents/{index}")).about(asked.variant()));
            }
        }
    }
    Ok(findings)
}

fn wrong(content: &Value) -> Option<&'static str> {
    if !content.get("uri").is_some_and(Value::is_string) {
        return Some("a content has no `uri`");
    }
    match (content.get("text"), content.get("blob")) {
        (Some(_), Some(_)) => Some("a content has both `text` and `blob`"),
        (None, None) => Some("a content has neither `text` nor `blob`"),
        (Some(text), None) => (!text.is_string()).then_some("`text` is not a string"),
        (None, Some(blob)) => {
            let decoded =
                blob.as_str().map(|blob| base64::engine::general_purpose::STANDARD.decode(blob).is_ok());
            (decoded != Some(true)).then_some("`blob` is not base64")
        }
    }
}
