//! `resource-media-fits`: contents are what their media type says.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, READ_RESOURCES, READ_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-media-fits",
    group: Group::Resources,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "contents fit their `mimeType`: JSON parses, and images and PDFs begin as such",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients hand the contents to a viewer or parser that fails on them.",
    fix: "Correct the `mimeType`, or the contents.",
    needs: &[&LISTS, &READ_RESOURCES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in read(case)? {
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

/// Types and how their bytes begin.
const MAGIC: [(&str, &[&[u8]]); 5] = [
    ("image/png", &[b"\x89PNG"]),
    ("image/jpeg", &[b"\xff\xd8"]),
    ("image/gif", &[b"GIF8"]),
    ("application/pdf", &[b"%PDF"]),
    ("application/zip", &[b"PK"]),
];

fn contradiction(media: &str, contents: &Value) -> Option<String> {
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if let Some(text) = contents.get("text").and_then(Value::as_str) {
        let json = essence == "application/json" || essence.ends_with("+json");
        let parses = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if json && !parses() {
            return Some(format!("the text is said to be {essence}, and is not JSON"));
        }
        return MAGIC.iter().any(|(known, _)| *known == essence).then(|| format!("{essence} comes as `text` instead of `blob`"));
    }
    let blob = contents.get("blob").and_then(Value::as_str)?;
    let bytes = STANDARD.decode(blob).ok()?;
    let (_, begins) = MAGIC.iter().find(|(known, _)| *known == essence)?;
    let fits = begins.iter().any(|magic| bytes.starts_with(magic));
    (!fits).then(|| format!("the bytes are said to be {essence}, and do not begin as such"))
}

fn read<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    case.needs_capability("resources")?;
    let read = case.all(&READ_RESOURCES, READ_RESOURCE_STEP)?;
    let read: Vec<_> = read.into_iter().filter(|asked| asked.result().is_some()).collect();
    if read.is_empty() { Err(Skip::not_verified("no resource could be read")) } else { Ok(read) }
}
