//! `resource-media-agrees`: list and contents name the same media type.

use crate::{
    evidence::{Asked, Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, READ_RESOURCES, READ_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-media-agrees",
    group: Group::Resources,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "a resource has the same `mimeType` in the list and when it is read",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Clients prepare for the type in the list and get another.",
    fix: "Use one place in the code for the media type of a resource.",
    needs: &[&LISTS, &READ_RESOURCES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let resources = case.list(List::Resources)?;
    let mut findings = Vec::new();
    for asked in read(case)? {
        let listed = resources.iter().find(|item| item.text("uri") == Some(asked.variant()));
        let Some(listed) = listed.and_then(|item| item.text("mimeType")) else { continue };
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        // A folder's contents have types of their own.
        let Some([contents]) = list.map(Vec::as_slice) else { continue };
        let Some(found) = contents.get("mimeType").and_then(Value::as_str) else { continue };
        let essence = |media: &str| media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if essence(listed) != essence(found) {
            let message = format!("it is listed as {listed} and read as {found}");
            findings.push(asked.finding(message, "/result/contents/0/mimeType").about(asked.variant()));
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
