//! Output of Python's unittest, and Python tracebacks in general.

use super::{
    location::SourceLocation,
    types::{Diagnostic, Report, Severity, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let name = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        if let Some(name) = name
            && lines.get(at + 1).is_some_and(|next| next.starts_with("-----"))
        {
            let said = lines[at + 2..]
                .iter()
                .take_while(|line| !line.starts_with("=====") && !line.starts_with("-----"));
            report.fail(|| failure(name, &said.copied().collect::<Vec<_>>()));
        }
    }
    let summary =
        lines.iter().enumerate().rev().find_map(|(at, line)| Some((at, line.strip_prefix("Ran ")?)));
    report.tests = summary.map(|(at, rest)| {
        let ran = rest.split(' ').next().and_then(count).unwrap_or(0);
        counts(ran, &lines[at..])
    });
    report
}

/// Syntax errors as `compileall` reports them: a `File` line, the code, and the error.
pub(super) fn syntax_errors(text: &str) -> Vec<Diagnostic> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(place) = file_line(line.trim_start_matches(['*', ' '])) else { continue };
        let error = lines[at + 1..]
            .iter()
            .take(5)
            .find(|line| line.trim_start().split(':').next().is_some_and(|word| word.ends_with("Error")));
        let Some(error) = error else { continue };
        found.push(Diagnostic {
            severity: Severity::Error,
            message: error.trim().to_owned(),
            code: None,
            file: Some(place.file),
            line: Some(place.line),
            column: None,
        });
    }
    found
}

fn failure(name: &str, said: &[&str]) -> TestFailure {
    let places: Vec<SourceLocation> = said.iter().filter_map(|line| file_line(line.trim())).collect();
    let own = |place: &&SourceLocation| !place.file.contains("/lib/python") && !place.file.starts_with('<');
    let place = places.iter().rfind(own).or(places.last());
    let message = said.iter().rposition(|line| line.starts_with("    ") || line.starts_with("  File"));
    let message: Vec<_> = said[message.map_or(0, |at| at + 1)..].iter().map(|line| line.trim_end()).collect();
    TestFailure {
        name: name.to_owned(),
        file: place.map(|place| place.file.clone()),
        line: place.map(|place| place.line),
        message: message.join("\n"),
    }
}

/// `File "x.py", line 3, in f`.
fn file_line(line: &str) -> Option<SourceLocation> {
    let (file, rest) = line.strip_prefix("File \"")?.split_once("\", line ")?;
    let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(SourceLocation { file: file.to_owned(), line: number.parse().ok()?, column: None })
}

/// `FAILED (failures=1, errors=1, skipped=1)` or `OK`.
fn counts(ran: u64, lines: &[&str]) -> TestCounts {
    let mut counts = TestCounts::default();
    let result = lines.iter().find(|line| line.starts_with("FAILED") || line.starts_with("OK"));
    let inner =
        result.and_then(|line| line.split_once('(')).map_or("", |(_, inner)| inner.trim_end_matches(')'));
    for part in inner.split(", ") {
        match part.split_once('=') {
            Some(("failures" | "errors" | "unexpected successes", number)) => {
                counts.failed += count(number).unwrap_or(0);
            }
            Some(("skipped" | "expected failures", number)) => counts.skipped += count(number).unwrap_or(0),
            _ => {}
        }
    }
    counts.passed = ran.saturating_sub(counts.failed + counts.skipped);
    counts
}
