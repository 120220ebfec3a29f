//! `media-type-parameters`: a media type may have parameters.

use crate::{
    probes::{HTTP_HEADERS, MEDIA_PARAMETER_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "media-type-parameters",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "`Content-Type: application/json; charset=utf-8` is served like `application/json`",
    clause: Clause::practice("RFC 9110", "8.3.1 Media Type"),
    why: "Many HTTP libraries add the charset by themselves; all their requests are refused.",
    fix: "Compare the media type without its parameters.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_HEADERS, MEDIA_PARAMETER_STEP)?;
    let refused = asked.http().is_some_and(|http| (400..500).contains(&http.status));
    if !refused && asked.error().is_none() {
        return Ok(Vec::new());
    }
    let message = format!("a request with `Content-Type: {}` fails: {}", asked.variant(), asked.describe());
    Ok(vec![asked.finding(message, "")])
}
