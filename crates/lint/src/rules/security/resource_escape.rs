//! `resource-escape`: a read does not return arbitrary files of the machine.

use crate::{
    probes::{LISTS, RESOURCE_ESCAPE, RESOURCE_ESCAPE_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "resource-escape",
    group: Group::Security,
    level: Level::Critical,
    mode: Mode::Negative,
    summary: "a read gives no file of the machine that is no listed resource",
    clause: Clause::of("2025-11-25", "server/resources", "Security Considerations"),
    why: "Every client can read all files that the server can: keys, tokens, the documents of its user.",
    fix: "Resolve the path, check that it lies below the root, and only then open it; refuse other schemes and `..`.",
    needs: &[&LISTS, &RESOURCE_ESCAPE],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("resources")?;
    let mut findings = Vec::new();
    for asked in case.all(&RESOURCE_ESCAPE, RESOURCE_ESCAPE_STEP)? {
        let contents = asked.result().and_then(|result| result["contents"].as_array()).into_iter().flatten();
        // Part of the first line of `/etc/passwd`.
        let leaked = contents.into_iter().any(|content| {
            content["text"].as_str().is_some_and(|text| text.contains("root:") && text.contains(":0:0:"))
        });
        if leaked {
            let message = "the read gives the machine's own file";
            findings.push(asked.finding(message, "/result/contents").about(asked.variant()));
        }
    }
    Ok(findings)
}
