//! `invalid-envelope`: what is no request is not served as one.

use crate::{
    evidence::{Case},
    outcome::{Level, Verdict},
    probes::{ENVELOPES, ENVELOPES_AFTER, ENVELOPES_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "invalid-envelope",
    group: Group::JsonRpc,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a message that is no JSON-RPC request is refused with -32600",
    clause: Clause::of("2026-07-28", "basic", "Error codes"),
    why: "A server that takes anything for a request hides mistakes of clients, which then fail with every other server.",
    fix: "Check `jsonrpc` and the type of `method` first, and answer -32600 with the id, where there is one.",
    needs: &[&ENVELOPES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in case.all(&ENVELOPES, ENVELOPES_STEP)? {
        let finding = |level: Level| {
            let message = format!("a message with {} should be refused with -32600, but {}", asked.variant(), asked.describe());
            asked.finding(message, "").about(asked.variant()).level(level)
        };
        match (asked.result(), asked.error_code()) {
            (Some(_), _) => findings.push(finding(Level::Warning)),
            (None, Some(-32600)) => {}
            // Over HTTP the status says it as well.
            (None, _) if asked.http().is_some_and(|http| http.status == 400) => {}
            (None, _) => findings.push(finding(Level::Info)),
        }
    }
    if let Some(after) = case.asked(ENVELOPES_AFTER).find(|after| after.result().is_none()) {
        let message = format!("after invalid messages a normal request fails: {}", after.describe());
        findings.push(after.finding(message, "").about("survival").level(Level::Error));
    }
    Ok(findings)
}
