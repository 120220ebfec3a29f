//! `resource-contents-uri`: contents have the URI that was read.

use crate::{
    probes::{LISTS, RESOURCE_READS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-contents-uri",
    group: Group::Resources,
    level: Level::Info,
    summary: "the contents of a resource carry the URI that was asked for, or one below it",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients file the contents under the URI they carry and do not find them again.",
    fix: "Repeat the URI of the request in each piece of contents.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in super::read(case)? {
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        for (index, contents) in list.into_iter().flatten().enumerate() {
            let Some(uri) = contents.get("uri").and_then(Value::as_str) else { continue };
            if !uri.starts_with(asked.variant().trim_end_matches('/')) {
                let message = format!("the contents that come are of `{uri}`");
                findings.push(
                    asked.finding(message, &format!("/result/contents/{index}/uri")).about(asked.variant()),
                );
            }
        }
    }
    Ok(findings)
}
