//! `long-request`: a long request is served.

use crate::{
    probes::{LISTS, LONG, LONG_REQUEST_AFTER, LONG_REQUEST_STEP, METADATA, METADATA_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "long-request",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "a request of 200 KB is served, or refused with an error",
    clause: Clause::practice("practice", "messages of ordinary length"),
    why: "Tools that take a document or a file get such requests every day; a server with a small buffer dies or hangs at them.",
    fix: "Read lines and bodies of any length up to a limit of megabytes, and answer an error above it.",
    needs: &[&LISTS, &METADATA],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let short = case.first(&METADATA, METADATA_STEP)?;
    let Some(asked) = case.asked(LONG_REQUEST_STEP).next() else {
        return Err(Skip::not_verified(format!("a short one fails as well: {}", short.describe())));
    };
    let after = case.asked(LONG_REQUEST_AFTER).next();
    let survived = after.is_some_and(|after| after.lives());
    if asked.result().is_some() {
        let dead = after.filter(|_| !survived).map(|after| {
            let message =
                format!("after a request of {} KB the next one fails: {}", LONG / 1024, after.describe());
            after.finding(message, "").with_frames(asked.sent_ref())
        });
        return Ok(dead.into_iter().collect());
    }
    let refused = asked.error().is_some() || asked.http().is_some_and(|http| !http.is_success());
    let level = if refused && survived { Level::Info } else { Level::Error };
    let message = format!("a request of {} KB is not served: {}", LONG / 1024, asked.describe());
    Ok(vec![asked.finding(message, "").level(level)])
}
