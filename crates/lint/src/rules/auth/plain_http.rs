//! `plain-http`: the connection is encrypted.

use crate::{evidence::Evidence, probes::INTRODUCTION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "plain-http",
    group: Group::Auth,
    level: Level::Error,
    carriers: Carriers::Http,
    summary: "a server on another machine is reached by https",
    clause: Clause::of("2025-11-25", "basic/authorization", "Communication Security"),
    why: "Everybody on the way reads tokens, arguments and results, and can change them.",
    fix: "Serve https; plain http is for this machine only.",
    needs: &[&INTRODUCTION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    let Some(address) = &evidence.address else {
        return Err(Skip::not_applicable("the server has no address"));
    };
    if address.scheme() == "https" || evidence.is_local() {
        return Ok(Vec::new());
    }
    let host = address.host_str().unwrap_or_default();
    Ok(vec![Finding::new(format!("{host} is reached by plain http")).about(host)])
}
