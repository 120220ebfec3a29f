//! SARIF 2.1.0, for code scanning services.

use super::{FindingReport, Report};
use crate::{
    outcome::Level,
    rule::{Group, Rule},
    rules,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub fn sarif(report: &Report) -> Value {
    let used: BTreeSet<&str> = report.findings().map(|(_, finding)| finding.rule).collect();
    let rules: Vec<&'static Rule> = rules::all().filter(|rule| used.contains(rule.name)).collect();
    let results: Vec<Value> = report
        .findings()
        .map(|(target, finding)| {
            let index = rules.iter().position(|rule| rule.name == finding.rule);
            result(&target.target, finding, index)
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": report.tool,
                "version": report.version,
                "rules": rules.into_iter().map(rule).collect::<Vec<_>>(),
            }},
            "results": results,
        }],
    })
}

fn rule(rule: &'static Rule) -> Value {
    let mut properties = json!({"tags": [rule.group.as_str(), rule.mode.as_str()], "precision": "high"});
    if matches!(rule.group, Group::Security | Group::Auth) {
        properties["security-severity"] = json!(severity(rule.level));
    }
    let mut about = json!({
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": format!("{}\n\n{}", rule.fix, rule.clause)},
        "defaultConfiguration": {"level": level(rule.level)},
        "properties": properties,
    });
    if let Some(url) = rule.clause.url() {
        about["helpUri"] = url.into();
    }
    about
}

fn result(target: &str, finding: &FindingReport, index: Option<usize>) -> Value {
    let about = finding.about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
    let place = format!("{target}#{}", finding.pointer.as_deref().unwrap_or_default());
    // Services require a location, and a server has no source lines, so the target is the
    // location.
    let location = json!({
        "physicalLocation": {"artifactLocation": {"uri": uri(target)}, "region": {"startLine": 1}},
        "logicalLocations": [{"fullyQualifiedName": place, "kind": "resource"}],
    });
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.level),
        "message": {"text": format!("{about}{}\n{}", finding.message, finding.fix)},
        "locations": [location],
        "partialFingerprints": {"trunklineLint/v1": finding.fingerprint},
        "properties": {
            "eras": finding.eras,
            "frames": finding.frames.iter().map(|frame| &frame.text).collect::<Vec<_>>(),
        },
    });
    if let Some(index) = index {
        result["ruleIndex"] = index.into();
    }
    if let Some(ignored) = &finding.ignored {
        result["suppressions"] = json!([{"kind": "external", "justification": ignored.reason}]);
    }
    result
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Critical | Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    }
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Critical => "9.5",
        Level::Error => "8.0",
        Level::Warning => "5.0",
        Level::Info => "2.0",
    }
}

/// Escapes a command line so that readers accept it as a relative URI.
fn uri(target: &str) -> String {
    if target.contains("://") {
        return target.to_owned();
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/@".contains(c);
    let mut uri = String::new();
    for c in target.chars() {
        if plain(c) {
            uri.push(c);
        } else {
            let mut bytes = [0; 4];
            uri.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    uri
}
