//! `batch-refused`: batches are refused and do no harm.

use crate::{
    evidence::Message,
    probes::{BATCH, BATCH_AFTER, BATCH_STEP},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "batch-refused",
    group: Group::JsonRpc,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "a batch is refused, and the server goes on",
    clause: Clause::of("2025-06-18", "changelog", "Major changes"),
    why: "Batches are part of one revision only; a server that serves them runs calls past what proxies and clients can see, one that dies of them is gone for everybody.",
    fix: "Answer an array with -32600 and `\"id\": null`, and go on reading.",
    needs: &[&BATCH],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let version = case.introduction().and_then(|it| it.get("protocolVersion")?.as_str());
    if version == Some("2025-03-26") {
        return Err(Skip::not_applicable("the revision 2025-03-26 has batches"));
    }
    let batch = case.first(&BATCH, BATCH_STEP)?;
    let mut findings = Vec::new();
    let served = |message: &Message<'_>| {
        message.value.get("result").is_some()
            && matches!(message.value.get("id").and_then(Value::as_i64), Some(9201 | 9202))
    };
    if let Some(message) = case.messages().into_iter().find(served) {
        let finding = batch.finding("a batch of two requests was served", "");
        findings.push(finding.at(message.frame, message.pointer("/result")));
    }
    if let Some(after) = case.asked(BATCH_AFTER).find(|after| !after.lives()) {
        let message = format!("after a batch a normal request fails: {}", after.describe());
        findings.push(
            after.finding(message, "").with_frames(batch.frames()).about("survival").level(Level::Error),
        );
    }
    Ok(findings)
}
