//! Output of Vitest.

use super::{
    location,
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("Tests  ") {
            report.tests = counts(rest);
        }
        if let Some(name) = line.strip_prefix("FAIL  ") {
            let said = lines[at + 1..]
                .iter()
                .take_while(|line| !line.trim_start().starts_with("FAIL  ") && !line.starts_with("⎯"));
            report.fail(|| failure(name, &said.take(60).copied().collect::<Vec<_>>()));
        }
    }
    if report.tests.is_some() { report } else { Report::default() }
}

fn failure(name: &str, said: &[&str]) -> TestFailure {
    let place =
        said.iter().find_map(|line| location::exact(line.trim().strip_prefix("❯ ")?.rsplit(' ').next()?));
    let message = said.iter().take_while(|line| !line.trim_start().starts_with("❯ "));
    TestFailure {
        name: name.trim().to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: message.map(|line| line.trim_end()).collect::<Vec<_>>().join("\n").trim().to_owned(),
    }
}

/// `1 failed | 2 passed | 1 skipped (4)`.
fn counts(rest: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    for part in rest.split('|') {
        let mut words = part.split_whitespace();
        let number = count(words.next()?)?;
        match words.next()? {
            "passed" => counts.passed = number,
            "failed" => counts.failed = number,
            "skipped" | "todo" => counts.skipped += number,
            _ => {}
        }
    }
    Some(counts)
}
