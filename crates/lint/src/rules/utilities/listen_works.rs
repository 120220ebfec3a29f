//! `listen-works`: a server that declares `listChanged` accepts subscriptions.

use crate::{
    probes::{LISTEN, LISTEN_AFTER_STEP, LISTEN_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "listen-works",
    group: Group::Utilities,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "a server that declares `listChanged` can be listened to",
    clause: Clause::of("2026-07-28", "basic/patterns/subscriptions", "Opening a Stream"),
    why: "In the modern era changes are announced on subscriptions only; without them the declaration is wrong.",
    fix: "Implement `subscriptions/listen`, or do not declare `listChanged`.",
    needs: &[&LISTEN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let declared = ["tools", "prompts", "resources"]
        .into_iter()
        .any(|name| case.capability(&format!("{name}.listChanged")).is_some());
    if !declared {
        return Err(Skip::not_applicable("the server declares no `listChanged`"));
    }
    let asked = case.first(&LISTEN, LISTEN_STEP)?;
    let refused = asked.got().into_iter().find(|message| message.value.get("error").is_some());
    let later = case.asked(LISTEN_AFTER_STEP).flat_map(|after| after.got()).find(|message| {
        message.value.get("error").is_some()
            && Some(&message.value["id"]) == asked.sent().and_then(|sent| sent.json()?.get("id"))
    });
    Ok(refused
        .or(later)
        .map(|message| {
            let text = format!("`subscriptions/listen` is refused: {}", message.value["error"]["message"]);
            Finding::new(text).at(message.frame, message.pointer("/error")).with_frames(asked.sent_ref())
        })
        .into_iter()
        .collect())
}
