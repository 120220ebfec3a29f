//! `progress-after-end`: no progress notification follows the answer.

use super::notifications;
use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "progress-after-end",
    group: Group::Utilities,
    level: Level::Error,
    mode: Mode::Active,
    summary: "no progress notification follows the answer",
    clause: Clause::of("2025-11-25", "basic/utilities/progress", "Implementation Notes"),
    why: "The client has forgotten the token by then; it logs errors or takes the next call's progress for the last one's.",
    fix: "Stop the progress of a call before its answer is sent.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let calls = case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let messages = notifications(case, "notifications/progress");
    for asked in calls {
        let token = asked.sent().and_then(|sent| sent.json()?.pointer("/params/_meta/progressToken"));
        let (Some(token), Some(answer)) = (token, asked.answer_ref()) else { continue };
        let late = messages.iter().find(|message| {
            message.frame.line == answer.line
                && message.frame.frame > answer.frame
                && message.value["params"]["progressToken"] == *token
        });
        if let Some(late) = late {
            let finding = Finding::new("progress came after the call was answered").about(asked.variant());
            return Ok(vec![finding.at(late.frame, late.pointer("/params")).with_frame(answer)]);
        }
    }
    Ok(Vec::new())
}
