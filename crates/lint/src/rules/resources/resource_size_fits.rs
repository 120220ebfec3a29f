//! `resource-size-fits`: the size of a resource is its size.

use crate::{
    evidence::{Asked, Case, Item, List},
    outcome::{Finding, Level, Skip, Verdict},
    probes::{LISTS, READ_RESOURCES, READ_RESOURCE_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "resource-size-fits",
    group: Group::Resources,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`size` is a whole number of bytes, and the contents are as long",
    clause: Clause::of("2025-11-25", "server/resources", "Resource"),
    why: "Clients decide by the size whether a resource fits into the context, and cut or refuse it.",
    fix: "State the size in bytes before base64, or leave it out when it changes.",
    needs: &[&LISTS, &READ_RESOURCES],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let resources = case.list(List::Resources)?;
    let wrong = |item: &&Item<'_>| item.value.get("size").is_some_and(|size| size.as_f64().is_none_or(|size| size < 0.0));
    let tell = |item: &Item<'_>| item.finding(format!("{} is not a size in bytes", item.value["size"]), "/size").level(Level::Error);
    let mut findings: Vec<Finding> = resources.iter().filter(wrong).map(tell).collect();
    for asked in read(case)? {
        let listed = resources.iter().find(|item| item.text("uri") == Some(asked.variant()));
        let Some(size) = listed.and_then(|item| item.value.get("size")).and_then(Value::as_u64) else { continue };
        let list = asked.result().and_then(|result| result.get("contents")).and_then(Value::as_array);
        let Some([contents]) = list.map(Vec::as_slice) else { continue };
        let Some(length) = length(contents) else { continue };
        if length as u64 != size {
            let message = format!("it is listed with {size} bytes and has {length}");
            findings.push(asked.finding(message, "/result/contents/0").about(asked.variant()));
        }
    }
    Ok(findings)
}

fn length(contents: &Value) -> Option<usize> {
    let text = contents.get("text").and_then(Value::as_str).map(str::len);
    text.or_else(|| Some(STANDARD.decode(contents.get("blob")?.as_str()?).ok()?.len()))
}

fn read<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    case.needs_capability("resources")?;
    let read = case.all(&READ_RESOURCES, READ_RESOURCE_STEP)?;
    let read: Vec<_> = read.into_iter().filter(|asked| asked.result().is_some()).collect();
    if read.is_empty() { Err(Skip::not_verified("no resource could be read")) } else { Ok(read) }
}
