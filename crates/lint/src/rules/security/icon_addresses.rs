//! `icon-addresses`: icons are images from https or data URLs.

use super::words;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "icon-addresses",
    group: Group::Security,
    level: Level::Warning,
    summary: "icons are images from https or data addresses",
    clause: Clause::of("2025-11-25", "basic", "icons"),
    why: "A client that shows the icon runs script, reads a local file or tells a stranger who uses the server.",
    fix: "Give icons as `https:` addresses of your own host, or as `data:image/…`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = words::all(case)?;
    let sources =
        texts.iter().filter(|text| text.pointer.contains("/icons/") && text.pointer.ends_with("/src"));
    let bad = sources.filter_map(|text| {
        let lower = text.content.to_ascii_lowercase();
        // A relative URL does no harm; `icon-source` reports that it is not shown.
        let relative = !lower.split('/').next().is_some_and(|head| head.contains(':'));
        let fine = relative
            || lower.starts_with("https://")
            || lower.starts_with("data:image/")
            || lower.starts_with("http://127.0.0.1")
            || lower.starts_with("http://localhost");
        let scheme: String = text.content.chars().take(30).collect();
        (!fine).then(|| text.finding(format!("an icon is {scheme:?}")))
    });
    Ok(bad.collect())
}
