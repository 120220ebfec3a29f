//! `media-type-checked`: a POST that is not `application/json` is refused.

use crate::{
    probes::{HTTP_HEADERS, MEDIA_TYPE_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "media-type-checked",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "a POST that is not `application/json` is refused",
    clause: Clause::practice("Fetch Standard", "CORS-safelisted request-header"),
    why: "Web pages may send `text/plain` to any address without asking first; a server that serves it loses the browser's protection.",
    fix: "Answer HTTP 415 unless the `Content-Type` of the request is `application/json`.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked = case.first(&HTTP_HEADERS, MEDIA_TYPE_STEP)?;
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.is_success() && asked.result().is_some() {
        return Ok(vec![asked.finding("a request with `Content-Type: text/plain` was served", "")]);
    }
    Ok(Vec::new())
}
