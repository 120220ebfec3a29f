//! `resource-contents-uri`: contents have the URI that was read.

use crate::{
    evidence::{Asked, Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, RESOURCE_READ_STEP, RESOURCE_READS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-contents-uri",
    group: Group::Resources,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the contents of a resource carry the URI that was asked for, or one below it",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients file the contents under the URI they carry and do not find them again.",
    fix: "Repeat the URI of the request in each piece of contents.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in read(case)? {
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

fn read<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    if case.list(List::Resources)?.is_empty() {
        return Err(Skip::not_applicable("the list of resources is empty"));
    }
    let read = case.all(&RESOURCE_READS, RESOURCE_READ_STEP)?;
    let read: Vec<_> = read.into_iter().filter(|asked| asked.result().is_some()).collect();
    if read.is_empty() { Err(Skip::not_verified("no resource could be read")) } else { Ok(read) }
}
