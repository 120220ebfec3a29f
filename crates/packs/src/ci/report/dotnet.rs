//! Output of `dotnet test`: a report file in XML (TRX), or text.

use super::{
    location::SourceLocation,
    types::{Report, TestCounts, TestFailure, count},
    xml::{Event, events},
};

/// The results in report files.
pub(super) fn trx(files: &[String]) -> Report {
    let mut report = Report::default();
    for file in files {
        read_file(file, &mut report);
    }
    report
}

fn read_file(file: &str, report: &mut Report) {
    let mut failure: Option<TestFailure> = None;
    let mut trace = String::new();
    let mut inside = String::new();
    for event in events(file) {
        match event {
            Event::Start(element) if element.name() == "UnitTestResult" => {
                let counts = report.tests.get_or_insert_default();
                match element.get("outcome").as_deref() {
                    Some("Passed") => counts.passed += 1,
                    Some("NotExecuted") => counts.skipped += 1,
                    _ => {
                        counts.failed += 1;
                        failure = Some(TestFailure {
                            name: element.get("testName").unwrap_or_default(),
                            ..TestFailure::default()
                        });
                    }
                }
            }
            Event::Start(element) if matches!(element.name(), "Message" | "StackTrace") => {
                element.name().clone_into(&mut inside);
            }
            Event::Text(text) => match (inside.as_str(), &mut failure) {
                ("Message", Some(failure)) => failure.message.push_str(&text),
                ("StackTrace", Some(_)) => trace.push_str(&text),
                _ => {}
            },
            Event::End(end) if matches!(&*end, "Message" | "StackTrace") => inside.clear(),
            Event::End(end) if &*end == "UnitTestResult" => {
                if let Some(failure) = failure.take() {
                    report.fail(|| located(failure, &trace));
                }
                trace.clear();
            }
            _ => {}
        }
    }
}

/// The results in the printed text.
pub(super) fn text(text: &str) -> Report {
    let mut report = Report::default();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.trim_start().strip_prefix("Failed ").filter(|name| name.ends_with(']')) {
            let said: Vec<_> = lines[at + 1..]
                .iter()
                .take_while(|line| {
                    !line.trim_start().starts_with("Failed ") && !line.contains("!  - Failed:")
                })
                .take(60)
                .copied()
                .collect();
            let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
            let from = said.iter().position(|line| line.trim() == "Error Message:").map_or(0, |at| at + 1);
            let message =
                said[from..].iter().take_while(|line| line.trim() != "Stack Trace:").map(|line| line.trim());
            let failure = TestFailure {
                name: name.to_owned(),
                message: message.collect::<Vec<_>>().join("\n"),
                ..TestFailure::default()
            };
            report.fail(|| located(failure, &said.join("\n")));
        }
        if let Some(rest) = line.split_once("!  - ").map(|(_, rest)| rest) {
            report.tests.get_or_insert_default().add(counts(rest));
        }
    }
    report
}

/// `Failed:     1, Passed:     2, Skipped:     0, Total: …`.
fn counts(rest: &str) -> TestCounts {
    let mut counts = TestCounts::default();
    for part in rest.split(',') {
        let Some((word, number)) = part.split_once(':') else { continue };
        let number = count(number.trim()).unwrap_or(0);
        match word.trim() {
            "Failed" => counts.failed = number,
            "Passed" => counts.passed = number,
            "Skipped" => counts.skipped = number,
            _ => {}
        }
    }
    counts
}

/// `at Ns.Class.Method() in /src/T.cs:line 12`.
fn located(mut failure: TestFailure, trace: &str) -> TestFailure {
    let place = trace.lines().find_map(|line| {
        let (file, line) = line.rsplit_once(" in ")?.1.rsplit_once(":line ")?;
        Some(SourceLocation { file: file.to_owned(), line: line.trim().parse().ok()?, column: None })
    });
    failure.line = place.as_ref().map(|place| place.line);
    failure.file = place.map(|place| place.file);
    failure
}
