//! `newest-revision`: the server supports the newest revision of its era.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use trunkline_protocol::Revision;

pub(super) static RULE: Rule = Rule {
    name: "newest-revision",
    group: Group::Lifecycle,
    level: Level::Info,
    eras: Eras::Legacy,
    summary: "the server speaks the newest revision of its era",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Version Negotiation"),
    why: "Older revisions lack what clients have learnt to use: structured results, titles, icons, clear rules for errors.",
    fix: "Update the SDK the server is built with.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let version = introduced.result().and_then(|it| it.get("protocolVersion")?.as_str()).unwrap_or_default();
    let Ok(revision) = version.parse::<Revision>() else {
        return Err(Skip::not_verified("the server chose no known revision"));
    };
    let newest = Revision::NEWEST_LEGACY.as_str();
    if revision.as_str() == newest {
        return Ok(Vec::new());
    }
    let message = format!("asked for {newest}, the server chose {version}");
    Ok(vec![introduced.finding(message, "/result/protocolVersion")])
}
