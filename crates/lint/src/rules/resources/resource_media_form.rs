//! `resource-media-form`: media types are well-formed.

use crate::{
    evidence::Item,
    probes::LISTS,
    rules::{prelude::*, resources_and_templates},
};

pub(super) static RULE: Rule = Rule {
    name: "resource-media-form",
    group: Group::Resources,
    level: Level::Warning,
    summary: "every `mimeType` of a resource or template is a media type such as `text/plain`",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Clients choose by the type how to show a resource; one they cannot parse they show as bytes.",
    fix: "Write type and subtype: `text/markdown`, `application/json`, `image/png`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let items = resources_and_templates(case)?;
    let wrong = |item: &&Item<'_>| {
        item.value.get("mimeType").is_some_and(|it| it.as_str().is_none_or(|it| !is_media(it)))
    };
    let tell = |item: &Item<'_>| {
        item.finding(format!("{} is not a media type", item.value["mimeType"]), "/mimeType")
    };
    Ok(items.iter().filter(wrong).map(tell).collect())
}

fn is_media(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim();
    let token = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&b))
    };
    essence.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
}
