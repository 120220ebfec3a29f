//! `foreign-origin`: a request from a foreign web page is refused.

use crate::{
    evidence::HttpHead,
    probes::{FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "foreign-origin",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    carriers: Carriers::Http,
    summary: "a request with a foreign `Origin` is refused with 403",
    clause: Clause::of("2025-11-25", "basic/transports", "Security Warning"),
    why: "Any web page the user opens can talk to the server through the browser (DNS rebinding) and call its tools.",
    fix: "Compare the whole `Origin` header, where there is one, with a list of allowed origins, and answer 403 otherwise.",
    needs: &[&FOREIGN_ORIGIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP)?;
    let served = all.iter().find(|asked| asked.http().is_some_and(HttpHead::is_success));
    if let Some(asked) = served {
        let message = format!("a request with `Origin: {}` was served", asked.variant());
        // A page in a sandboxed frame sends `null`, and so do local files.
        let level = if asked.variant() == "null" { Level::Warning } else { Level::Error };
        return Ok(vec![asked.finding(message, "").level(level)]);
    }
    let asked = all[0];
    let http = asked.http().ok_or_else(|| Skip::not_verified(asked.describe()))?;
    if http.status != 403 {
        let message = format!("a foreign origin is refused, but with HTTP {} instead of 403", http.status);
        return Ok(vec![asked.finding(message, "").level(Level::Info)]);
    }
    Ok(Vec::new())
}
