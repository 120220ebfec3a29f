//! `meta-required`: a modern request without a required `_meta` member is refused.

use crate::{
    probes::{MISSING_META, MISSING_META_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "meta-required",
    group: Group::Lifecycle,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "a request that lacks a required `_meta` member is refused with -32602",
    clause: Clause::of("2026-07-28", "basic", "_meta"),
    why: "A server that guesses the missing version or capabilities answers in a form the client may not understand.",
    fix: "Refuse requests without protocolVersion or clientCapabilities in `params._meta` with -32602 (HTTP 400).",
    needs: &[&MISSING_META],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in case.all(&MISSING_META, MISSING_META_STEP)? {
        // A server of both eras treats a request without a version as a legacy one.
        let legacy = case.evidence().served.len() > 1 && asked.variant().ends_with("protocolVersion");
        let refused = asked.error().is_some() || asked.http().is_some_and(|http| !http.is_success());
        let served = asked.result().is_some_and(|result| result.get("resultType").is_none());
        // Over HTTP the version header contradicts a body without a version.
        let mismatch = asked.error_code() == Some(-32020) && asked.variant().ends_with("protocolVersion");
        if asked.error_code() != Some(-32602) && !mismatch && !(legacy && (refused || served)) {
            let message = format!(
                "a request without `{}` should be refused with -32602, but {}",
                asked.variant(),
                asked.describe()
            );
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    Ok(findings)
}
