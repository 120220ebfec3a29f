//! Output of `go test -json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{
    compiler::{self, Unmarked},
    evidence::Evidence,
    location,
    types::{Report, TestCounts, TestFailure},
};

/// Maximum output kept for one test, in bytes.
const OUTPUT: usize = 8 * 1024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    output: Option<String>,
}

type Key = (String, Option<String>);

pub(super) fn read(evidence: &Evidence) -> Report {
    let mut outputs: BTreeMap<Key, String> = BTreeMap::new();
    let mut counts: Option<TestCounts> = None;
    let mut failed: Vec<Key> = Vec::new();
    let mut readable = String::new();
    for line in evidence.stdout.lines() {
        let Some(line) = line.starts_with('{').then(|| serde_json::from_str::<Line>(line).ok()).flatten()
        else {
            readable.push_str(line);
            readable.push('\n');
            continue;
        };
        let key = (line.package, line.test);
        if let Some(output) = line.output {
            readable.push_str(&output);
            let kept = outputs.entry(key.clone()).or_default();
            if kept.len() < OUTPUT {
                kept.push_str(&output);
            }
        }
        match (line.action.as_str(), key.1.is_some()) {
            ("pass", true) => counts.get_or_insert_default().passed += 1,
            ("skip", true) => counts.get_or_insert_default().skipped += 1,
            ("fail", true) => {
                counts.get_or_insert_default().failed += 1;
                failed.push(key);
            }
            _ => {}
        }
    }
    let mut report = Report { tests: counts, ..Report::default() };
    let all: BTreeSet<&Key> = failed.iter().collect();
    for key in failed.iter().filter(|key| !is_parent(key, &all)) {
        report.fail(|| failure(key, outputs.get(key)));
    }
    if report.failures.is_empty() {
        report.diagnostics = compiler::diagnostics(&readable, Unmarked::Error);
        report.diagnostics.extend(compiler::diagnostics(&evidence.stderr, Unmarked::Error));
    }
    report.readable = Some(format!("{}{readable}", evidence.stderr));
    report
}

/// True if a subtest of this test failed too; then only the subtest is reported.
fn is_parent(key: &Key, failed: &BTreeSet<&Key>) -> bool {
    let Some(test) = &key.1 else { return false };
    let inside = format!("{test}/");
    let from = (key.0.clone(), Some(inside.clone()));
    let next = failed.range::<&Key, _>(&from..).next();
    next.is_some_and(|(package, inner)| {
        *package == key.0 && inner.as_ref().is_some_and(|inner| inner.starts_with(&inside))
    })
}

fn failure(key: &Key, output: Option<&String>) -> TestFailure {
    let output = output.map_or("", String::as_str);
    let said = output
        .lines()
        .filter(|line| !line.trim_start().starts_with("=== ") && !line.trim_start().starts_with("--- "));
    let said: Vec<_> = said.collect();
    let place = said.iter().find_map(|line| location::leading(line.trim_start()));
    // The stack trace of a panic contains the line in the test's own file.
    let in_trace = || {
        said.iter()
            .filter(|line| line.contains("_test.go:"))
            .find_map(|line| location::exact(line.trim().split(" +0x").next()?))
    };
    let place = place.map(|(place, _)| place).or_else(in_trace);
    TestFailure {
        name: format!("{}.{}", key.0, key.1.as_deref().unwrap_or_default()),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: said.join("\n").trim().to_owned(),
    }
}
