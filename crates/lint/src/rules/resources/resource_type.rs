//! `resource-type`: contents match their media type and size.

use crate::{
    probes::{LISTS, RESOURCE_READ_STEP, RESOURCE_READS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "resource-type",
    group: Group::Resources,
    level: Level::Warning,
    summary: "the content of a resource fits its `mimeType` and `size`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Clients choose by type and size how to show a resource and whether to read it at all.",
    fix: "Give the type and the size (in bytes) of what is really returned, or leave them out.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let resources = case.list(List::Resources)?;
    if resources.is_empty() {
        return Err(Skip::not_applicable("the list of resources is empty"));
    }
    let mut findings = Vec::new();
    for asked in case.all(&RESOURCE_READS, RESOURCE_READ_STEP)? {
        let Some(content) = asked.result().and_then(|result| result.pointer("/contents/0")) else { continue };
        let resource = resources.iter().find(|resource| resource.text("uri") == Some(asked.variant()));
        let listed = resource.and_then(|resource| resource.text("mimeType"));
        let read = content.get("mimeType").and_then(|mime| mime.as_str());
        let text = content.get("text").and_then(|text| text.as_str());
        let base = |mime: &str| mime.split(';').next().unwrap_or_default().trim().to_lowercase();
        if let (Some(listed), Some(read)) = (listed, read)
            && base(listed) != base(read)
        {
            let message = format!("it is listed as {listed} and read as {read}");
            findings.push(asked.finding(message, "/result/contents/0/mimeType").about(asked.variant()));
        }
        let mime = read.or(listed).map(base).unwrap_or_default();
        if mime == "application/json"
            && text.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_err())
        {
            findings.push(
                asked
                    .finding("it says application/json and is none", "/result/contents/0/text")
                    .about(asked.variant()),
            );
        }
        if let (Some(size), Some(text)) = (resource.and_then(|it| it.value.get("size")?.as_u64()), text)
            && size != text.len() as u64
        {
            let message = format!("its size is given as {size} bytes, and its text has {}", text.len());
            findings.push(asked.finding(message, "/result/contents/0/text").about(asked.variant()));
        }
    }
    Ok(findings)
}
