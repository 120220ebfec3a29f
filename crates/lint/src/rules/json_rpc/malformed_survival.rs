//! `malformed-survival`: malformed JSON neither kills nor silences a server.

use crate::{
    probes::{MALFORMED, MALFORMED_AFTER, MALFORMED_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "malformed-survival",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "after malformed JSON the server answers the next request as usual",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "One broken message, from whatever source, makes the server unavailable to all its users.",
    fix: "Catch parse errors per message, answer -32700 with `\"id\": null`, and go on reading.",
    needs: &[&MALFORMED],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let malformed = case.first(&MALFORMED, MALFORMED_STEP)?;
    let after = case.first(&MALFORMED, MALFORMED_AFTER)?;
    if after.lives() {
        return Ok(Vec::new());
    }
    let how = match &after.line().ended {
        Some(ended) => format!("the server {}", ended.how),
        None => after.describe(),
    };
    let finding = after.finding(format!("after malformed JSON a normal request fails: {how}"), "");
    let finding = finding.with_frames(malformed.frames());
    let stderr = after.line().stderr.as_str();
    Ok(vec![if stderr.is_empty() { finding } else { finding.note(format!("stderr: {stderr}")) }])
}
