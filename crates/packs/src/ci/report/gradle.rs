//! Test output of Gradle, for runs without a report file.

use super::{
    location::{self, SourceLocation},
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
            let said = lines[at + 1..].iter().take_while(|line| line.starts_with("    ")).take(60);
            report.fail(|| failure(name, &said.map(|line| line.trim()).collect::<Vec<_>>()));
        }
        if let Some((completed, rest)) = line
            .trim()
            .split_once(" tests completed, ")
            .or_else(|| line.trim().split_once(" test completed, "))
        {
            report.tests = counts(completed, rest);
        }
    }
    report
}

/// `AssertionFailedError at AppTest.java:12`, or a whole stack trace.
fn failure(name: &str, said: &[&str]) -> TestFailure {
    let at_end = said.first().and_then(|line| location::exact(line.rsplit_once(" at ")?.1));
    let place: Option<SourceLocation> = at_end.or_else(|| location::in_stack(&said.join("\n")));
    TestFailure {
        name: name.trim().to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: said
            .iter()
            .take_while(|line| !line.starts_with("at "))
            .copied()
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// `3 tests completed, 1 failed, 1 skipped`.
fn counts(completed: &str, rest: &str) -> Option<TestCounts> {
    let completed = count(completed)?;
    let mut counts = TestCounts::default();
    for part in rest.split(", ") {
        match part.split_once(' ') {
            Some((number, "failed")) => counts.failed = count(number)?,
            Some((number, "skipped")) => counts.skipped = count(number)?,
            _ => {}
        }
    }
    counts.passed = completed.saturating_sub(counts.failed + counts.skipped);
    Some(counts)
}
