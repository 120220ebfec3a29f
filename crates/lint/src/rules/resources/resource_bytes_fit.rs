//! `resource-bytes-fit`: binary contents match their media type.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::prelude::*,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-bytes-fit",
    group: Group::Resources,
    level: Level::Warning,
    summary: "contents that are said to be images, PDFs or archives come as `blob` and begin as such",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients hand the contents to a viewer that fails on them.",
    fix: "Correct the `mimeType`, or the contents.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Media types and their magic numbers.
const MAGIC: [(&str, &[u8]); 5] = [
    ("image/png", b"\x89PNG"),
    ("image/jpeg", b"\xff\xd8"),
    ("image/gif", b"GIF8"),
    ("application/pdf", b"%PDF"),
    ("application/zip", b"PK"),
];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in super::read(case)? {
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        for (index, contents) in list.into_iter().flatten().enumerate() {
            let Some(media) = contents.get("mimeType").and_then(Value::as_str) else { continue };
            if let Some(message) = contradiction(media, contents) {
                let at = format!("/result/contents/{index}/mimeType");
                findings.push(asked.finding(message, &at).about(asked.variant()));
            }
        }
    }
    Ok(findings)
}

fn contradiction(media: &str, contents: &Value) -> Option<String> {
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (_, begins) = MAGIC.iter().find(|(known, _)| *known == essence)?;
    if contents.get("text").is_some() {
        return Some(format!("{essence} comes as `text` instead of `blob`"));
    }
    let bytes = STANDARD.decode(contents.get("blob")?.as_str()?).ok()?;
    (!bytes.starts_with(begins))
        .then(|| format!("the bytes are said to be {essence}, and do not begin as such"))
}
