//! `cancelled-call`: a cancelled call is not answered, and the server keeps working.

use crate::{
    probes::{CANCEL_AFTER_STEP, CANCEL_STEP, CANCELLED_CALL_STEP, CANCELLED_CALLS, LISTS, TOOL_CALLS},
    rules::prelude::*,
};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "cancelled-call",
    group: Group::Utilities,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "a call that was cancelled is not answered, and the server goes on",
    clause: Clause::of("2025-11-25", "basic/utilities/cancellation", "Behavior Requirements"),
    why: "The server does work that is no longer needed, and the client gets an answer it no longer expects.",
    fix: "Stop the work when `notifications/cancelled` names its request, and send nothing more for it.",
    needs: &[&LISTS, &TOOL_CALLS, &CANCELLED_CALLS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    match (case.carrier(), case.era()) {
        (Carrier::StreamableHttp, Era::Modern) => {
            return Err(Skip::not_applicable(
                "a call is cancelled by closing its stream; `closed-stream` looks at that",
            ));
        }
        (Carrier::StreamableHttp, Era::Legacy) => {
            return Err(Skip::not_verified(
                "over HTTP the notification may come before the call that it cancels",
            ));
        }
        _ => {}
    }
    let Some(call) = case.asked(CANCELLED_CALL_STEP).next() else {
        return Err(Skip::not_verified("no tool that may be called takes long enough to be cancelled"));
    };
    let cancel = case.first(&CANCELLED_CALLS, CANCEL_STEP)?;
    let mut findings = Vec::new();
    if cancel.answer().is_some() {
        let finding = cancel.finding("the call was cancelled and is answered nevertheless", "");
        findings.push(finding.about(call.variant()).with_frames(call.sent_ref()));
    }
    let after = case.first(&CANCELLED_CALLS, CANCEL_AFTER_STEP)?;
    if after.answer().is_none() {
        let message =
            format!("after a call was cancelled the server no longer answers: {}", after.describe());
        findings.push(after.finding(message, "").about(call.variant()).level(Level::Error));
    }
    Ok(findings)
}
