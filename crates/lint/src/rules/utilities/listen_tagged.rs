//! `listen-tagged`: every message of a subscription carries its id.

use super::listened;
use crate::{probes::LISTEN, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "listen-tagged",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "every message of a subscription carries its id",
    clause: Clause::of("2026-07-28", "basic/patterns/subscriptions", "Receiving Notifications"),
    why: "A client with two subscriptions on one line cannot tell which of them a message belongs to.",
    fix: "Put the id of the listen request into `_meta` as `io.modelcontextprotocol/subscriptionId`.",
    needs: &[&LISTEN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (asked, messages) = listened(case)?;
    let id = asked.sent().and_then(|sent| sent.json()?.get("id"));
    if messages.is_empty() {
        return Err(Skip::not_verified("nothing came on the subscription"));
    }
    let untagged = messages
        .into_iter()
        .find(|message| message.value["params"]["_meta"].get("io.modelcontextprotocol/subscriptionId") != id);
    Ok(untagged
        .map(|message| {
            let text = format!(
                "`{}` does not carry the id of the subscription",
                message.method().unwrap_or_default()
            );
            Finding::new(text).at(message.frame, message.pointer("/params")).with_frames(asked.sent_ref())
        })
        .into_iter()
        .collect())
}
