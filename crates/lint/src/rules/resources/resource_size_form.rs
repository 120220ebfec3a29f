//! `resource-size-form`: the size of a resource is a number of bytes.

use crate::{
    evidence::Item,
    probes::{LISTS, RESOURCE_READS},
    rules::prelude::*,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-size-form",
    group: Group::Resources,
    level: Level::Error,
    summary: "`size` is a number of bytes, and the bytes in `blob` are as many",
    clause: Clause::of("2025-11-25", "schema", "Resource"),
    why: "Clients decide by the size whether a resource fits into the context; what is no number makes the list invalid.",
    fix: "State the size in bytes before base64, or leave it out when it changes.",
    needs: &[&LISTS, &RESOURCE_READS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let resources = case.list(List::Resources)?;
    let wrong = |item: &&Item<'_>| {
        item.value.get("size").is_some_and(|size| size.as_f64().is_none_or(|size| size < 0.0))
    };
    let tell =
        |item: &Item<'_>| item.finding(format!("{} is not a size in bytes", item.value["size"]), "/size");
    let mut findings: Vec<Finding> = resources.iter().filter(wrong).map(tell).collect();
    for asked in super::read(case)? {
        let listed = resources.iter().find(|item| item.text("uri") == Some(asked.variant()));
        let Some(size) = listed.and_then(|item| item.value.get("size")).and_then(Value::as_u64) else {
            continue;
        };
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        let Some([contents]) = list.map(Vec::as_slice) else { continue };
        let blob = contents.get("blob").and_then(Value::as_str).and_then(|blob| STANDARD.decode(blob).ok());
        if let Some(bytes) = blob
            && bytes.len() as u64 != size
        {
            let message = format!("it is listed with {size} bytes, and its `blob` has {}", bytes.len());
            let finding = asked.finding(message, "/result/contents/0/blob");
            findings.push(finding.about(asked.variant()).level(Level::Warning));
        }
    }
    Ok(findings)
}
