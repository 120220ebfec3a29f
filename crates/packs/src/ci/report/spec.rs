//! Output of `node:test` in its text format (`spec`).

use super::{
    location,
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let mut counts = TestCounts::default();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some((word, number)) = line.strip_prefix("ℹ ").and_then(|rest| rest.split_once(' '))
            && let Some(number) = count(number)
        {
            match word {
                "pass" => counts.passed = number,
                "fail" | "cancelled" => counts.failed += number,
                "skipped" | "todo" => counts.skipped += number,
                _ => {}
            }
        }
        if let Some(place) = line.strip_prefix("test at ") {
            report.failures.extend(failure(place, &lines[at + 1..]));
        }
    }
    if counts.total() > 0 {
        report.tests = Some(counts);
    }
    report
}

fn failure(location: &str, lines: &[&str]) -> Option<TestFailure> {
    let name = lines.first()?.trim().strip_prefix("✖ ")?;
    let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
    let said: Vec<_> =
        lines[1..].iter().take_while(|line| !line.starts_with("test at ")).take(60).copied().collect();
    let message =
        said.iter().take_while(|line| !line.trim_start().starts_with("at ")).map(|line| line.trim());
    let place = location::in_stack(&said.join("\n")).or_else(|| location::exact(location));
    Some(TestFailure {
        name: name.to_owned(),
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file),
        message: message.collect::<Vec<_>>().join("\n").trim().to_owned(),
    })
}
