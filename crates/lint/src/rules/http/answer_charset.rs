//! `answer-charset`: no answer claims another character set than UTF-8.

use super::exchanges;
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "answer-charset",
    group: Group::Http,
    level: Level::Warning,
    carriers: Carriers::StreamableHttp,
    summary: "no answer claims another character set than UTF-8",
    clause: Clause::of("2026-07-28", "basic/transports", "Messages"),
    why: "Messages are UTF-8; a client that believes the header turns every letter beyond ASCII into another one.",
    fix: "Leave `charset` out of the `Content-Type`, or say `charset=utf-8`.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    for asked in exchanges(case)? {
        let Some(media) = asked.http().and_then(|http| http.header("content-type")) else { continue };
        let lower = media.to_ascii_lowercase();
        let Some((_, charset)) = lower.split_once("charset=") else { continue };
        let charset = charset.split(';').next().unwrap_or_default().trim().trim_matches('"');
        if !matches!(charset, "utf-8" | "utf8") && asked.answer().is_some() && findings.is_empty() {
            findings.push(asked.finding(format!("an answer says `{media}`"), ""));
        }
    }
    Ok(findings)
}
