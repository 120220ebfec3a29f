//! `auth-query-tokens-offered`: the metadata offers tokens in the header only.

use super::{bare, document};
use crate::{evidence::Evidence, probes::AUTHORIZATION, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "auth-query-tokens-offered",
    group: Group::Auth,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "the metadata offers tokens in the header only",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Requirements"),
    why: "A token in the URL ends up in logs, histories and referrers of every system on the way.",
    fix: "Take `query` out of `bearer_methods_supported`.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    bare(evidence)?;
    let (asked, document) =
        document(evidence).ok_or_else(|| Skip::not_verified("there is no protected-resource metadata"))?;
    let methods = document["bearer_methods_supported"].as_array();
    if methods.is_some_and(|methods| methods.iter().any(|method| method == "query")) {
        return Ok(vec![asked.finding("tokens in the query are offered", "/bearer_methods_supported")]);
    }
    Ok(Vec::new())
}
