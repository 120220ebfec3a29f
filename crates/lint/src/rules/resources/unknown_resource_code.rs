//! `unknown-resource-code`: the error for an unknown resource has the code of its era.

use crate::{
    evidence::Case,
    outcome::{Level, Skip, Verdict},
    probes::{UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "unknown-resource-code",
    group: Group::Resources,
    level: Level::Info,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a read of a resource that does not exist is refused with -32002 in the legacy era and -32602 in the modern one",
    clause: Clause::of("2026-07-28", "server/resources", "Error Handling"),
    why: "Clients tell \"gone\" from \"broken\" by the code: one they drop from their lists, the other they try again.",
    fix: "Answer -32002 to legacy clients, -32602 to modern ones.",
    needs: &[&UNKNOWN_RESOURCE],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    let asked = case.first(&UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP)?;
    let Some(code) = asked.error_code() else { return Err(Skip::not_verified(asked.describe())) };
    let right: i64 = match case.era() {
        Era::Legacy => -32002,
        Era::Modern => -32602,
    };
    if code == right {
        return Ok(Vec::new());
    }
    let message = format!("an unknown resource should be refused with {right}, not with {code}");
    let finding = asked.finding(message, "/error/code");
    // The modern era forbids the old code; everything else is a recommendation.
    let forbidden = case.era() == Era::Modern && code == -32002;
    Ok(vec![if forbidden { finding.level(Level::Warning) } else { finding }])
}
