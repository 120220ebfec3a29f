//! Test output of Maven, for runs without a report file.

use super::types::{Report, TestCounts, TestFailure, count};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        let Some(rest) =
            ["[ERROR] ", "[WARNING] ", "[INFO] "].iter().find_map(|level| line.strip_prefix(level))
        else {
            continue;
        };
        // Lines of single classes contain a time; the total does not.
        if rest.starts_with("Tests run: ") && !rest.contains("Time elapsed") {
            report.tests.get_or_insert_default().add(counts(rest));
        } else if let Some(failure) = line.strip_prefix("[ERROR]   ").and_then(failure) {
            report.fail(|| failure);
        }
    }
    report
}

/// `Tests run: 3, Failures: 1, Errors: 0, Skipped: 1`.
fn counts(rest: &str) -> TestCounts {
    let mut run = 0;
    let mut counts = TestCounts::default();
    for part in rest.split(", ") {
        let Some((word, number)) = part.split_once(": ") else { continue };
        let number = count(number.trim()).unwrap_or(0);
        match word {
            "Tests run" => run = number,
            "Failures" | "Errors" => counts.failed += number,
            "Skipped" => counts.skipped = number,
            _ => {}
        }
    }
    counts.passed = run.saturating_sub(counts.failed + counts.skipped);
    counts
}

/// `AppTest.adds:12 expected: <3> but was: <2>`, or with an arrow to the failed line:
/// `AppTest.adds:12->helper:30 …`.
fn failure(rest: &str) -> Option<TestFailure> {
    let (head, message) = rest.split_once(' ').unwrap_or((rest, ""));
    let (name, line) = head.split("->").next()?.split_once(':')?;
    let line: u64 = line.parse().ok()?;
    let class = name.rsplit_once('.')?.0.rsplit('.').next()?;
    let class = class.split('$').next()?;
    Some(TestFailure {
        name: name.to_owned(),
        file: Some(format!("{class}.java")),
        line: Some(line),
        message: message.trim_start_matches("» ").to_owned(),
    })
}
