//! `known-revision`: the negotiated revision exists.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use trunkline_protocol::{Era, Revision};

pub(super) static RULE: Rule = Rule {
    name: "known-revision",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Legacy,
    summary: "the server answers `initialize` with a published revision",
    clause: Clause::of("2025-11-25", "basic/lifecycle", "Version Negotiation"),
    why: "Clients disconnect when they do not know the revision that the server has chosen.",
    fix: "Answer with one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    let Some(version) = introduced.result().and_then(|it| it.get("protocolVersion")?.as_str()) else {
        return Err(Skip::not_verified("the result of `initialize` names no revision"));
    };
    match version.parse::<Revision>() {
        Ok(revision) if revision.era() == Era::Legacy => Ok(Vec::new()),
        Ok(_) => {
            let message = format!("the revision {version} has no `initialize`");
            Ok(vec![introduced.finding(message, "/result/protocolVersion")])
        }
        Err(_) => {
            let message = format!("`{version}` is not a published revision");
            Ok(vec![introduced.finding(message, "/result/protocolVersion")])
        }
    }
}
