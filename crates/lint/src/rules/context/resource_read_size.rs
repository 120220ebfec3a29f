//! `resource-read-size`: resources fit into the context.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    report::estimate,
    rules::{prelude::*, resource_reads},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-read-size",
    group: Group::Context,
    level: Level::Info,
    summary: "a listed resource has at most 25,000 tokens of text",
    clause: Clause::practice("client limits", "context cost"),
    why: "A user who attaches it fills the context with one click.",
    fix: "Split it, offer a template with a range, or state `size` so that clients can warn.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 25_000;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in resource_reads(case)? {
        let Some(contents) = asked.result().and_then(|it| it.get("contents")).and_then(Value::as_array)
        else {
            continue;
        };
        seen = true;
        let tokens: usize = contents.iter().filter_map(|it| it.get("text")).map(estimate).sum();
        if tokens > MOST {
            let message = format!("it has about {tokens} tokens of text");
            findings.push(asked.finding(message, "/result/contents").about(asked.variant()));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no resource could be read")) }
}
