//! `listen-acknowledged`: a subscription begins with its acknowledgement.

use super::listened;
use crate::{probes::LISTEN, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "listen-acknowledged",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "a subscription begins with its acknowledgement",
    clause: Clause::of("2026-07-28", "basic/patterns/subscriptions", "Acknowledgment"),
    why: "The client does not know which changes are announced, and may wait for ever for others.",
    fix: "Send `notifications/subscriptions/acknowledged` with the accepted subset before anything else on the subscription.",
    needs: &[&LISTEN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (asked, messages) = listened(case)?;
    let Some(first) = messages.first() else {
        return Ok(vec![asked.finding("`subscriptions/listen` was not acknowledged", "")]);
    };
    if first.method() == Some("notifications/subscriptions/acknowledged") {
        return Ok(Vec::new());
    }
    let text = format!(
        "the first message of the subscription is `{}`, not the acknowledgement",
        first.method().unwrap_or_default()
    );
    Ok(vec![Finding::new(text).at(first.frame, first.pointer("/method")).with_frames(asked.sent_ref())])
}
