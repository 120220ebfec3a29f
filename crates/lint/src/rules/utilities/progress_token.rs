//! `progress-token`: progress names a token that the client gave.

use super::{notifications, tokens};
use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{LISTS, TOOL_CALLS, TOOL_CALL_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "progress-token",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "progress names a token that the client gave",
    clause: Clause::of("2025-11-25", "basic/utilities/progress", "Behavior Requirements"),
    why: "The client cannot tell which call makes progress; some end the connection over it.",
    fix: "Send progress only for requests with `_meta.progressToken`, and repeat that token unchanged.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let tokens = tokens(case);
    let foreign = notifications(case, "notifications/progress").into_iter().find(|message| {
        !tokens.contains(&message.value["params"]["progressToken"])
    });
    Ok(foreign
        .map(|message| {
            let text = format!("progress came for the token {}, which no request had", message.value["params"]["progressToken"]);
            Finding::new(text).at(message.frame, message.pointer("/params"))
        })
        .into_iter()
        .collect())
}
