//! `endpoint-redirect`: the endpoint answers itself.

use crate::{probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "endpoint-redirect",
    group: Group::Http,
    level: Level::Warning,
    carriers: Carriers::StreamableHttp,
    summary: "the address of the server answers itself, and does not redirect",
    clause: Clause::of("2025-11-25", "basic/transports", "Streamable HTTP"),
    why: "Many clients do not follow a redirect of a POST, or lose the message or the token on the way.",
    fix: "Serve the path with and without the slash at its end, or publish the address that answers.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let own = case.evidence().address.as_ref().map(ToString::to_string).unwrap_or_default();
    let asked = case.introduced().ok_or_else(|| Skip::not_verified("there is no introduction"))?;
    let to = asked.http().and_then(|http| http.redirected.clone());
    let finding = to.map(|to| asked.finding(format!("{own} redirects to {to}"), ""));
    Ok(finding.into_iter().collect())
}
