//! `server-website`: the server's `websiteUrl` is a valid URL.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;
use trunkline_protocol::Era;
use url::Url;

pub(super) static RULE: Rule = Rule {
    name: "server-website",
    group: Group::Docs,
    level: Level::Warning,
    summary: "`websiteUrl` of the server is an address with http or https",
    clause: Clause::of("2025-11-25", "schema", "Implementation"),
    why: "Clients offer the address as a link to click.",
    fix: "Write the whole address, beginning with `https://`.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (introduced, pointer, info) = identity(case)?;
    let Some(website) = info.get("websiteUrl") else {
        return Err(Skip::not_applicable("the server names no address"));
    };
    let web = |url: &Url| matches!(url.scheme(), "http" | "https");
    if website.as_str().and_then(|text| Url::parse(text).ok()).is_some_and(|url| web(&url)) {
        return Ok(Vec::new());
    }
    Ok(vec![
        introduced
            .finding(format!("{website} is not an address of a website"), &format!("{pointer}/websiteUrl")),
    ])
}

fn identity<'a>(case: &Case<'a>) -> Result<(Asked<'a>, &'static str, &'a Value), Skip> {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let pointer = match case.era() {
        Era::Legacy => "/result/serverInfo",
        Era::Modern => "/result/_meta/io.modelcontextprotocol~1serverInfo",
    };
    let info = introduced.answer().and_then(|answer| answer.pointer(pointer));
    info.map(|info| (introduced, pointer, info))
        .ok_or_else(|| Skip::not_verified("the server does not send its name and version"))
}
