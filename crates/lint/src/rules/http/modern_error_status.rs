//! `modern-error-status`: an unsupported version and a missing `_meta` member are answered with
//! HTTP 400.

use crate::{
    probes::{MISSING_META, MISSING_META_STEP, UNKNOWN_VERSION, UNKNOWN_VERSION_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "modern-error-status",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "an unsupported version and a missing `_meta` member are answered with HTTP 400",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Protocol Version Header"),
    why: "A client that may speak an older revision looks at the status to know that it has to.",
    fix: "Answer the errors -32022, -32021 and -32602 for missing `_meta` members with HTTP 400.",
    needs: &[&UNKNOWN_VERSION, &MISSING_META],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut all = case.all(&UNKNOWN_VERSION, UNKNOWN_VERSION_STEP)?;
    all.extend(case.all(&MISSING_META, MISSING_META_STEP)?);
    for asked in all {
        let Some(http) = asked.http() else { continue };
        if let Some(code @ (-32022 | -32021 | -32602)) = asked.error_code()
            && http.status != 400
        {
            let message = format!("the error {code} comes with HTTP {} instead of 400", http.status);
            let about = if asked.variant().is_empty() {
                "unsupported version".to_owned()
            } else {
                format!("no {}", asked.variant())
            };
            findings.push(asked.finding(message, "/error/code").about(about));
        }
    }
    Ok(findings)
}
