//! `log-level-obeyed`: no log message is below the level that was set.

use super::LEVELS;
use crate::{
    probes::{LOGGING, SET_LEVEL_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "log-level-obeyed",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    summary: "no log message below the level that was set comes",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Setting Log Level"),
    why: "The user turned the noise off and gets it all the same; on slow lines it holds up the answers.",
    fix: "Compare the level of a message with the one that was set last, and drop the message if it is lower.",
    needs: &[&LOGGING],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("logging")?;
    let set = case.all(&LOGGING, SET_LEVEL_STEP)?;
    let quietest = set.iter().find(|asked| asked.variant() == "emergency" && asked.result().is_some());
    let Some(at) = quietest.and_then(Asked::answer_ref) else {
        return Err(Skip::not_verified("the level could not be set"));
    };
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    let low = case.messages().into_iter().find(|message| {
        message.frame.line == at.line
            && message.frame.frame > at.frame
            && message.method() == Some("notifications/message")
            && message.value["params"]["level"]
                .as_str()
                .and_then(rank)
                .is_some_and(|rank| rank + 1 < LEVELS.len())
    });
    Ok(low
        .map(|message| {
            let text = format!(
                "a message of level {} came after the level was set to emergency",
                message.value["params"]["level"]
            );
            Finding::new(text).at(message.frame, message.pointer("/params/level")).with_frame(at)
        })
        .into_iter()
        .collect())
}
