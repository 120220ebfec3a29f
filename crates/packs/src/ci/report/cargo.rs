//! Output of cargo: JSON messages of the compiler, text of the tests.

use serde::Deserialize;

use super::{
    evidence::Evidence,
    location,
    types::{Diagnostic, Report, Severity, TestCounts, TestFailure, count},
};

#[derive(Debug, Deserialize)]
struct Line {
    reason: String,
    message: Option<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(rename = "message")]
    text: String,
    level: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Code {
    code: String,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    is_primary: bool,
}

pub(super) fn read(evidence: &Evidence) -> Report {
    let mut report = Report::default();
    let mut text = String::new();
    let mut readable = String::new();
    for line in evidence.stdout.lines() {
        let message = line.starts_with('{').then(|| serde_json::from_str::<Line>(line).ok()).flatten();
        match message {
            Some(Line { reason, message: Some(message) }) if reason == "compiler-message" => {
                readable.push_str(message.rendered.as_deref().unwrap_or(&message.text));
                report.diagnostics.extend(diagnostic(message));
            }
            Some(_) => {}
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    let tests = tests(&text);
    report.tests = tests.tests;
    report.failures = tests.failures;
    // Errors of cargo itself, for example in a manifest, have no location.
    if report.is_empty() {
        report.diagnostics.extend(cargo_error(&evidence.stderr));
    }
    report.readable = Some(format!("{}{readable}{text}", evidence.stderr));
    report
}

fn diagnostic(message: Message) -> Option<Diagnostic> {
    let severity = match message.level.as_str() {
        "error" | "error: internal compiler error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let span = message.spans.into_iter().find(|span| span.is_primary);
    // Summaries such as "aborting due to 2 errors" have neither location nor code.
    if span.is_none() && message.code.is_none() && message.text.contains("aborting due to") {
        return None;
    }
    Some(Diagnostic {
        severity,
        message: message.text,
        code: message.code.map(|code| code.code),
        line: span.as_ref().map(|span| span.line_start),
        column: span.as_ref().map(|span| span.column_start),
        file: span.map(|span| span.file_name),
    })
}

fn cargo_error(stderr: &str) -> Option<Diagnostic> {
    let at = stderr.lines().position(|line| line.starts_with("error: ") || line.starts_with("error["))?;
    let lines: Vec<_> = stderr.lines().skip(at).take(12).collect();
    let message = lines.join("\n").trim_start_matches("error: ").to_owned();
    let arrow = lines.iter().find_map(|line| location::exact(line.trim().strip_prefix("--> ")?));
    Some(Diagnostic {
        severity: Severity::Error,
        message,
        code: None,
        file: arrow.as_ref().map(|place| place.file.clone()),
        line: arrow.as_ref().map(|place| place.line),
        column: arrow.and_then(|place| place.column),
    })
}

/// Parses the output of the standard test harness.
pub(super) fn tests(text: &str) -> Report {
    let mut report = Report::default();
    let mut counts: Option<TestCounts> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(result) = line.strip_prefix("test result: ") {
            counts.get_or_insert_default().add(result_counts(result));
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            let mut said = Vec::new();
            while let Some(line) = lines.next_if(|line| {
                !line.starts_with("---- ") && *line != "failures:" && !line.starts_with("test result: ")
            }) {
                said.push(line);
            }
            report.fail(|| failure(name, &said));
        }
    }
    report.tests = counts;
    report
}

/// `FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; …`
fn result_counts(result: &str) -> TestCounts {
    let mut counts = TestCounts::default();
    for part in result.split([';', '.']) {
        match part.trim().split_once(' ') {
            Some((number, "passed")) => counts.passed = count(number).unwrap_or(0),
            Some((number, "failed")) => counts.failed = count(number).unwrap_or(0),
            Some((number, "ignored")) => counts.skipped = count(number).unwrap_or(0),
            _ => {}
        }
    }
    counts
}

fn failure(name: &str, said: &[&str]) -> TestFailure {
    let panic = said.iter().position(|line| line.contains("panicked at "));
    let from = panic.map_or(0, |at| at + 1);
    let message = said[from..]
        .iter()
        .take_while(|line| !line.starts_with("note: ") && !line.starts_with("stack backtrace:"));
    let mut message = message.copied().collect::<Vec<_>>().join("\n");
    let at = panic.and_then(|at| said[at].split("panicked at ").nth(1));
    // Before Rust 1.73 the message came first: `'message', src/lib.rs:3:5`.
    let at = at.map(|at| match at.rsplit_once("', ") {
        Some((old, place)) => {
            old.trim_start_matches('\'').clone_into(&mut message);
            place
        }
        None => at.trim_end_matches(':'),
    });
    let place = at.and_then(location::exact).or_else(|| in_name(name));
    TestFailure {
        name: name.to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message,
    }
}

/// Documentation tests are named by their location: `src/lib.rs - add (line 3)`.
fn in_name(name: &str) -> Option<location::SourceLocation> {
    let (file, rest) = name.split_once(" - ")?;
    let line = rest.rsplit_once("(line ")?.1.trim_end_matches(|c: char| !c.is_ascii_digit());
    let line = line.split(')').next()?.parse().ok()?;
    Some(location::SourceLocation { file: file.to_owned(), line, column: None })
}
