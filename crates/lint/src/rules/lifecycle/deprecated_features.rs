//! `deprecated-features`: what is deprecated is on its way out.

use crate::{
    evidence::{Case},
    outcome::{Level, Verdict},
    probes::INTRODUCTION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "deprecated-features",
    group: Group::Lifecycle,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the server does not rest on deprecated features",
    clause: Clause::of("2026-07-28", "deprecated", "Deprecated"),
    why: "Deprecated features may be removed from 2027-07-28 on; clients stop offering them earlier.",
    fix: "Write logs to standard error or OpenTelemetry instead of the `logging` capability, and serve Streamable HTTP instead of HTTP+SSE.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    if case.era() == Era::Modern && case.capability("logging").is_some() {
        let message = "the capability `logging` is deprecated";
        findings.push(introduced.finding(message, "/result/capabilities/logging").about("logging"));
    }
    if case.carrier() == Carrier::LegacySse {
        findings.push(introduced.finding("the transport HTTP+SSE is deprecated", "").about("HTTP+SSE"));
    }
    Ok(findings)
}
