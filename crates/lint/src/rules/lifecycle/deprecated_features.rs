//! `deprecated-features`: the server declares no deprecated feature.

use crate::{pointer, probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;
use trunkline_client::Carrier;
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "deprecated-features",
    group: Group::Lifecycle,
    level: Level::Info,
    summary: "the server does not rest on deprecated features",
    clause: Clause::of("2026-07-28", "deprecated", "Deprecated"),
    why: "Deprecated features may be removed from 2027-07-28 on; clients stop offering them earlier.",
    fix: "Write logs to standard error or OpenTelemetry instead of the `logging` capability, serve Streamable HTTP instead of HTTP+SSE, take folders as arguments instead of `roots`, and call models directly instead of `sampling`.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let introduced = case.introduced().ok_or_else(|| case.missing(&INTRODUCTION))?;
    if case.era() == Era::Modern && case.capability("logging").is_some() {
        let message = "the capability `logging` is deprecated";
        findings.push(introduced.finding(message, "/result/capabilities/logging").about("logging"));
    }
    for message in case.messages().into_iter().filter(|_| case.era() == Era::Modern) {
        let asked = message.value.pointer("/result/inputRequests").and_then(Value::as_object);
        for (key, request) in asked.into_iter().flatten() {
            let Some(method @ ("sampling/createMessage" | "roots/list")) = request["method"].as_str() else {
                continue;
            };
            if findings.iter().all(|known: &Finding| known.about.as_deref() != Some(method)) {
                let at = format!("/result/inputRequests/{}/method", pointer::escape(key));
                let finding = Finding::new("the server asks for input that is deprecated").about(method);
                findings.push(finding.at(message.frame, message.pointer(&at)));
            }
        }
    }
    if case.carrier() == Carrier::LegacySse {
        findings.push(introduced.finding("the transport HTTP+SSE is deprecated", "").about("HTTP+SSE"));
    }
    Ok(findings)
}
