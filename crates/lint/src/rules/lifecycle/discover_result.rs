//! `discover-result`: the modern introduction is complete.

use crate::{probes::INTRODUCTION, rules::prelude::*};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "discover-result",
    group: Group::Lifecycle,
    level: Level::Error,
    eras: Eras::Modern,
    summary: "the result of `server/discover` names the supported versions and the capabilities",
    clause: Clause::of("2026-07-28", "server/discover", "DiscoverResult"),
    why: "Clients choose the revision and the features they use from this answer.",
    fix: "Return `supportedVersions` as a non-empty array of revisions that holds 2026-07-28, and `capabilities` as an object.",
    needs: &[&INTRODUCTION],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let asked =
        case.introduced().ok_or_else(|| Skip::not_verified("there is no answer to `server/discover`"))?;
    let result = asked.result().unwrap_or(&Value::Null);
    let mut findings = Vec::new();
    match result["supportedVersions"].as_array() {
        Some(versions) if versions.iter().all(Value::is_string) && !versions.is_empty() => {
            if !versions.iter().any(|version| version == "2026-07-28") {
                let message =
                    "`supportedVersions` does not hold the revision this very request was served in";
                findings.push(asked.finding(message, "/result/supportedVersions"));
            }
        }
        _ => {
            findings.push(asked.finding(
                "`supportedVersions` is not a non-empty array of strings",
                "/result/supportedVersions",
            ));
        }
    }
    if !result["capabilities"].is_object() {
        findings.push(asked.finding("`capabilities` is not an object", "/result/capabilities"));
    }
    Ok(findings)
}
