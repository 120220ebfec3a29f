//! Output of Jest.

use super::{
    location,
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut summary = false;
    for (at, line) in lines.iter().enumerate() {
        // Failures are repeated below this line when there are many files.
        summary |= line.starts_with("Summary of all failing tests");
        if let Some(counts) = line.strip_prefix("Tests:").and_then(counts) {
            report.tests = Some(counts);
        }
        if let Some(name) = line.strip_prefix("  ● ")
            && !summary
        {
            let said = lines[at + 1..].iter().take_while(|line| line.is_empty() || line.starts_with("    "));
            report.fail(|| failure(name, &said.take(80).copied().collect::<Vec<_>>()));
        }
    }
    // Without a summary this was another program that uses the same bullet.
    if report.tests.is_some() { report } else { Report::default() }
}

fn failure(name: &str, said: &[&str]) -> TestFailure {
    let frames: Vec<_> = said.iter().filter(|line| line.trim_start().starts_with("at ")).copied().collect();
    let place = location::in_stack(&frames.join("\n"));
    let is_code = |line: &str| {
        line.trim_start()
            .trim_start_matches("> ")
            .split_once('|')
            .is_some_and(|(number, _)| number.trim().is_empty() || number.trim().parse::<u64>().is_ok())
    };
    let message =
        said.iter().take_while(|line| !line.trim_start().starts_with("at ")).filter(|line| !is_code(line));
    let message: Vec<_> = message.map(|line| line.trim()).collect();
    TestFailure {
        name: name.trim().to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: message.join("\n").trim().to_owned(),
    }
}

/// `1 failed, 1 skipped, 2 passed, 4 total`.
fn counts(rest: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    for part in rest.trim().split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number = count(number)?;
        match word {
            "passed" => counts.passed = number,
            "failed" => counts.failed = number,
            "skipped" | "todo" => counts.skipped += number,
            _ => {}
        }
    }
    Some(counts)
}
