//! Output of Mocha.

use super::{
    location,
    types::{self, Report, TestCounts, TestFailure},
};

pub(super) fn read(text: &str) -> Report {
    let lines: Vec<&str> = text.lines().collect();
    let count = |word: &str| {
        lines.iter().enumerate().rev().find_map(|(at, line)| {
            let mut words = line.split_whitespace();
            let number = types::count(words.next()?)?;
            (words.next()? == word).then_some((at, number))
        })
    };
    let Some((summary, passed)) = count("passing") else { return Report::default() };
    let failing = count("failing");
    let counts = TestCounts {
        passed,
        failed: failing.map_or(0, |(_, number)| number),
        skipped: count("pending").map_or(0, |(_, number)| number),
    };
    let mut report = Report { tests: Some(counts), ..Report::default() };
    let below = failing.map_or(summary, |(at, _)| at) + 1;
    let starts: Vec<usize> = (below..lines.len()).filter(|at| is_start(lines[*at])).collect();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(lines.len());
        report.fail(|| failure(&lines[*start..end]));
    }
    report
}

/// `  1) suite`
fn is_start(line: &str) -> bool {
    let number = line.strip_prefix("  ").and_then(|rest| rest.split_once(") "));
    number.is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The names of suites and test up to a colon, then the error, then its stack frames.
fn failure(lines: &[&str]) -> TestFailure {
    let mut names = Vec::new();
    let mut rest = lines;
    while let Some((line, next)) = rest.split_first() {
        rest = next;
        let name = line.trim();
        let name = if names.is_empty() { name.split_once(") ").map_or(name, |(_, name)| name) } else { name };
        names.push(name.trim_end_matches(':').to_owned());
        if name.ends_with(':') || rest.first().is_none_or(|line| line.is_empty()) {
            break;
        }
    }
    let said: Vec<_> = rest.iter().take(60).copied().collect();
    let place = location::in_stack(
        &said
            .iter()
            .filter(|line| line.trim_start().starts_with("at "))
            .copied()
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let message =
        said.iter().take_while(|line| !line.trim_start().starts_with("at ")).map(|line| line.trim());
    TestFailure {
        name: names.join(" > "),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: message.collect::<Vec<_>>().join("\n").trim().to_owned(),
    }
}
