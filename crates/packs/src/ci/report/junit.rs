//! Reports in the XML of `JUnit`, as pytest, Maven and Gradle write them.

use std::path::Path;

use super::{
    location::{self, SourceLocation},
    types::{Report, TestCounts, TestFailure},
    xml::{Event, events},
};

/// The test cases of all these files.
pub(super) fn read(files: &[String]) -> Report {
    let mut report = Report::default();
    for file in files {
        read_file(file, &mut report);
    }
    report
}

#[derive(Default)]
struct Case {
    class: String,
    name: String,
    file: Option<String>,
    outcome: Outcome,
    message: String,
    text: String,
}

#[derive(Default, PartialEq)]
enum Outcome {
    #[default]
    Passed,
    Skipped,
    Failed,
}

fn read_file(file: &str, report: &mut Report) {
    let mut case: Option<Case> = None;
    let mut in_failure = false;
    for event in events(file) {
        match (event, &mut case) {
            (Event::Start(element), None) if element.name() == "testcase" => {
                case = Some(Case {
                    class: element.get("classname").unwrap_or_default(),
                    name: element.get("name").unwrap_or_default(),
                    file: element.get("file"),
                    ..Case::default()
                });
            }
            (Event::Start(element), Some(case)) if matches!(element.name(), "failure" | "error") => {
                case.outcome = Outcome::Failed;
                case.message = element.get("message").unwrap_or_default();
                in_failure = true;
            }
            (Event::Start(element), Some(case)) if element.name() == "skipped" => {
                case.outcome = Outcome::Skipped;
            }
            (Event::Text(text), Some(case)) if in_failure => case.text.push_str(&text),
            (Event::End(end), _) if matches!(&*end, "failure" | "error") => in_failure = false,
            (Event::End(end), Some(_)) if &*end == "testcase" => report.add(case.take().unwrap_or_default()),
            _ => {}
        }
    }
}

impl Report {
    fn add(&mut self, case: Case) {
        let counts: &mut TestCounts = self.tests.get_or_insert_default();
        match case.outcome {
            Outcome::Passed => counts.passed += 1,
            Outcome::Skipped => counts.skipped += 1,
            Outcome::Failed => {
                counts.failed += 1;
                self.fail(|| failure(case));
            }
        }
    }
}

fn failure(case: Case) -> TestFailure {
    let place = python_place(&case.text).or_else(|| java_place(&case));
    let name = match case.class.as_str() {
        "" => case.name,
        class => format!("{class}.{}", case.name),
    };
    let first = case.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    TestFailure {
        name,
        line: place.as_ref().map(|place| place.line),
        file: place.map(|place| place.file).or(case.file),
        message: if case.message.is_empty() { first.to_owned() } else { case.message },
    }
}

/// Pytest ends with `tests/test_a.py:5: AssertionError`.
fn python_place(text: &str) -> Option<SourceLocation> {
    text.lines()
        .rev()
        .filter_map(location::leading)
        .map(|(place, _)| place)
        .find(|place| Path::new(&place.file).extension().is_some_and(|ending| ending == "py"))
}

/// The frame of the test's own class: `at com.x.AppTest.adds(AppTest.java:12)`.
fn java_place(case: &Case) -> Option<SourceLocation> {
    let class = case.class.split('$').next().unwrap_or_default();
    let own = case
        .text
        .lines()
        .find(|line| !class.is_empty() && line.contains(class) && line.trim().starts_with("at "));
    location::in_stack(own?)
}
