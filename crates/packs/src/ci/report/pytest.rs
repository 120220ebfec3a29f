//! Output of pytest, for runs without a report file.

use super::{
    location,
    types::{Report, TestCounts, TestFailure, count},
};

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        for word in ["FAILED ", "ERROR "] {
            if let Some(rest) = line.strip_prefix(word)
                && rest.contains(".py")
            {
                report.fail(|| failure(rest, text));
            }
        }
        report.tests = counts(line).or(report.tests);
    }
    report
}

/// `tests/test_a.py::test_b - assert 1 == 2`.
fn failure(rest: &str, text: &str) -> TestFailure {
    let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
    let file = name.split("::").next().unwrap_or(name);
    // The traceback of this test starts with its name between underscores and ends with a
    // location.
    let function = name.split_once("::").map_or(name, |(_, function)| function).replace("::", ".");
    let heading = format!(" {function} ");
    let traceback =
        text.lines().skip_while(|line| !(line.starts_with("__") && line.contains(heading.as_str())));
    let mut places =
        traceback.skip(1).take_while(|line| !line.starts_with("__")).filter_map(location::leading);
    let line = places.find(|(place, _)| place.file == file).map(|(place, _)| place.line);
    TestFailure { name: name.to_owned(), file: Some(file.to_owned()), line, message: message.to_owned() }
}

/// `1 failed, 2 passed, 1 skipped in 0.03s`, with or without a frame of equals signs.
fn counts(line: &str) -> Option<TestCounts> {
    let line = line.trim_matches(['=', ' ']);
    let (parts, _) = line.split_once(" in ")?;
    let mut counts = TestCounts::default();
    for part in parts.split(", ") {
        let (number, what) = part.split_once(' ')?;
        let number = count(number)?;
        match what {
            "passed" | "xpassed" => counts.passed += number,
            "failed" | "error" | "errors" => counts.failed += number,
            "skipped" | "xfailed" => counts.skipped += number,
            "warning" | "warnings" | "deselected" => {}
            _ => return None,
        }
    }
    Some(counts)
}
