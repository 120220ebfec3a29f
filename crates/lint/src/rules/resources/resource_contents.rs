//! `resource-contents`: contents are text or bytes.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, READ_RESOURCES, READ_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::content,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-contents",
    group: Group::Resources,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the contents of a resource have a `uri` and either `text` or `blob` in base64",
    clause: Clause::of("2025-11-25", "server/resources", "Resource Contents"),
    why: "Clients cannot show what is neither, and decode what is not base64 into garbage.",
    fix: "Return `text` for texts and `blob` (standard base64 with padding) for everything else.",
    needs: &[&LISTS, &READ_RESOURCES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in read(case)? {
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        let Some(list) = list else {
            findings.push(asked.finding("the result has no list `contents`", "/result/contents").about(asked.variant()));
            continue;
        };
        for (index, contents) in list.iter().enumerate() {
            if let Some((below, message)) = content::contents_flaw(contents) {
                let at = format!("/result/contents/{index}{below}");
                findings.push(asked.finding(message, &at).about(asked.variant()));
            }
        }
    }
    Ok(findings)
}

fn read<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    case.needs_capability("resources")?;
    let read = case.all(&READ_RESOURCES, READ_RESOURCE_STEP)?;
    let read: Vec<_> = read.into_iter().filter(|asked| asked.result().is_some()).collect();
    if read.is_empty() { Err(Skip::not_verified("no resource could be read")) } else { Ok(read) }
}
