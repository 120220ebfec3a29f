//! `file-uri-form`: file URIs have an absolute path and no remote host.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "file-uri-form",
    group: Group::Resources,
    level: Level::Warning,
    summary: "every `file:` URI has an absolute path and no host",
    clause: Clause::practice("RFC 8089", "file URIs"),
    why: "In `file://notes.txt` the file is taken for the name of a computer, and nothing is found.",
    fix: "Write `file:///` and the absolute path.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for list in [List::Resources, List::Templates] {
        // Templates are optional.
        let items = match case.list(list) {
            Err(_) if list == List::Templates => continue,
            items => items?,
        };
        for item in items {
            let member = if list == List::Templates { "uriTemplate" } else { "uri" };
            let Some(uri) = item.text(member) else { continue };
            let Some(rest) = uri.strip_prefix("file:") else { continue };
            let host = rest.strip_prefix("//").map(|rest| rest.split('/').next().unwrap_or_default());
            let right = match host {
                Some(host) => host.is_empty() || host == "localhost" || host.starts_with('{'),
                None => rest.starts_with('/'),
            };
            if !right {
                let message = format!("`{uri}` does not name an absolute path");
                findings.push(item.finding(message, &format!("/{member}")));
            }
        }
    }
    Ok(findings)
}
