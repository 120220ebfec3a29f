//! `unsupported-version`: a modern request of an unknown revision is refused as the specification
//! says.

use crate::{
    probes::{UNKNOWN_VERSION, UNKNOWN_VERSION_STEP},
    rules::prelude::*,
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "unsupported-version",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "a request of a revision the server does not support is refused with -32022 and the supported list",
    clause: Clause::of("2026-07-28", "basic/versioning", "Protocol Version Negotiation"),
    why: "From this error a client learns which revision to use instead; without it, it must give up.",
    fix: "Answer -32022 with `data.supported` equal to the `supportedVersions` of `server/discover`, and HTTP 400.",
    needs: &[&UNKNOWN_VERSION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&UNKNOWN_VERSION, UNKNOWN_VERSION_STEP)?;
    if asked.error_code() != Some(-32022) {
        let message =
            format!("the revision 1999-01-01 should be refused with -32022, but {}", asked.describe());
        return Ok(vec![asked.finding(message, "")]);
    }
    let supported = texts(asked.error().and_then(|error| error.pointer("/data/supported")));
    let discovered = texts(case.introduction().and_then(|it| it.get("supportedVersions")));
    if supported.is_empty() {
        return Ok(vec![asked.finding("the error does not say what is supported", "/error/data/supported")]);
    }
    if supported.is_subset(&discovered) && supported != discovered {
        // A server of both eras may list only the revisions that use this kind of request.
        let message = "`data.supported` names fewer revisions than `server/discover`";
        return Ok(vec![asked.finding(message, "/error/data/supported").level(Level::Info)]);
    }
    if supported != discovered {
        let message = "`data.supported` differs from the `supportedVersions` of `server/discover`";
        return Ok(vec![asked.finding(message, "/error/data/supported")]);
    }
    Ok(Vec::new())
}

fn texts(list: Option<&Value>) -> BTreeSet<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
