//! Tests with recorded output of real programs.

use super::{
    Evidence, Reading, read,
    types::{Report, Severity, TestCounts},
};
use crate::ci::project::{Action, Kind};

fn counts(passed: u64, failed: u64, skipped: u64) -> TestCounts {
    TestCounts { passed, failed, skipped }
}

fn tests_of(kind: Kind, evidence: &Evidence) -> Report {
    read(Reading::Project(kind, Action::RunTests), evidence)
}

fn stdout(text: &str) -> Evidence {
    Evidence { stdout: text.into(), ..Evidence::default() }
}

fn stderr(text: &str) -> Evidence {
    Evidence { stderr: text.into(), ..Evidence::default() }
}

fn files(text: &str) -> Evidence {
    Evidence { files: vec![text.into()], ..Evidence::default() }
}

/// Compares name, file, line and a part of the message of each failure.
fn assert_failures(report: &Report, expected: &[(&str, &str, u64, &str)]) {
    let found: Vec<_> = report
        .failures
        .iter()
        .map(|failure| {
            (failure.name.as_str(), failure.file.as_deref().unwrap_or("-"), failure.line.unwrap_or(0))
        })
        .collect();
    let places: Vec<_> = expected.iter().map(|(name, file, line, _)| (*name, *file, *line)).collect();
    assert_eq!(found, places);
    for (failure, (_, _, _, reason)) in report.failures.iter().zip(expected) {
        assert!(failure.message.contains(reason), "{failure:?}");
    }
}

#[test]
fn cargo_tests_and_messages() {
    let report = tests_of(Kind::Cargo, &stdout(include_str!("samples/cargo_test.txt")));
    assert_eq!(report.tests, Some(counts(1, 2, 1)));
    assert_failures(
        &report,
        &[
            ("tests::breaks", "src/lib.rs", 14, "left: 3\n right: 4"),
            ("src/lib.rs - add (line 3)", "src/lib.rs", 3, "cannot find value `missing`"),
        ],
    );
    let warning = &report.diagnostics[0];
    assert_eq!(
        (warning.severity, warning.line, warning.code.as_deref()),
        (Severity::Warning, Some(2), Some("unused_variables"))
    );
    let readable = report.readable.expect("a log for people");
    assert!(readable.contains("warning: unused variable") && !readable.contains("compiler-artifact"));
}

#[test]
fn cargo_tests_of_old_toolchains() {
    let report = tests_of(Kind::Cargo, &stdout(include_str!("samples/cargo_old.txt")));
    assert_failures(&report, &[("tests::breaks", "src/lib.rs", 14, "assertion failed: 3 == 4")]);
}

#[test]
fn node_tests_as_tap() {
    let report = tests_of(Kind::Npm, &stdout(include_str!("samples/node_tap.txt")));
    assert_eq!(report.tests, Some(counts(1, 3, 1)));
    assert_failures(
        &report,
        &[("breaks", "/project/t.test.js", 3, "1 !== 2"), ("inner", "/project/t.test.js", 4, "inside")],
    );
}

#[test]
fn node_tests_for_people() {
    let report = tests_of(Kind::Pnpm, &stdout(include_str!("samples/node_spec.txt")));
    assert_eq!(report.tests, Some(counts(1, 3, 1)));
    assert_failures(
        &report,
        &[("breaks", "/project/t.test.js", 3, "1 !== 2"), ("inner", "/project/t.test.js", 4, "inside")],
    );
}

#[test]
fn jest() {
    let report = tests_of(Kind::Npm, &stderr(include_str!("samples/jest.txt")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(&report, &[("group › breaks", "sum.test.js", 4, "Expected: 4\nReceived: 3")]);
    assert!(!report.failures[0].message.contains("test.skip"), "source lines are not part of the reason");
}

#[test]
fn vitest() {
    let report = tests_of(Kind::Npm, &stdout(include_str!("samples/vitest.txt")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(
        &report,
        &[("v/sum.vitest.test.mjs > group > breaks", "v/sum.vitest.test.mjs", 5, "expected 3 to be 4")],
    );
}

#[test]
fn mocha() {
    let report = tests_of(Kind::Yarn, &stdout(include_str!("samples/mocha.txt")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(&report, &[("group > breaks", "test/m.js", 5, "3 !== 4")]);
}

#[test]
fn eslint_in_both_styles() {
    for text in [include_str!("samples/eslint.txt"), include_str!("samples/eslint.json")] {
        let report = read(Reading::Project(Kind::Npm, Action::Lint), &stdout(text));
        let found: Vec<_> = report
            .diagnostics
            .iter()
            .map(|d| (d.severity, d.file.as_deref(), d.line, d.column, d.code.as_deref()))
            .collect();
        let file = Some("/project/src/a.js");
        assert_eq!(
            found,
            [
                (Severity::Error, file, Some(1), Some(7), Some("no-unused-vars")),
                (Severity::Warning, file, Some(1), Some(31), Some("eqeqeq"))
            ]
        );
    }
}

#[test]
fn pytest_by_its_report_and_by_its_text() {
    let report = tests_of(Kind::Python, &files(include_str!("samples/pytest.xml")));
    assert_eq!(report.tests, Some(counts(1, 2, 1)));
    assert_failures(
        &report,
        &[
            ("test_a.test_breaks", "test_a.py", 7, "not four\nassert 3 == 4"),
            ("test_a.TestGroup.test_raises", "test_a.py", 15, "inside"),
        ],
    );
    let report = tests_of(Kind::Python, &stdout(include_str!("samples/pytest.txt")));
    assert_eq!(report.tests, Some(counts(1, 2, 1)));
    assert_failures(
        &report,
        &[
            ("test_a.py::test_breaks", "test_a.py", 7, "not four"),
            ("test_a.py::TestGroup::test_raises", "test_a.py", 15, "inside"),
        ],
    );
}

#[test]
fn unittest() {
    let report = tests_of(Kind::Python, &stderr(include_str!("samples/unittest.txt")));
    assert_eq!(report.tests, Some(counts(1, 2, 1)));
    assert_failures(
        &report,
        &[
            ("test_error (test_u.T.test_error)", "/project/u/test_u.py", 8, "ValueError: inside"),
            ("test_breaks (test_u.T.test_breaks)", "/project/u/test_u.py", 6, "3 != 4"),
        ],
    );
}

#[test]
fn go_tests_and_builds() {
    let report = tests_of(Kind::Go, &stdout(include_str!("samples/go_test.jsonl")));
    assert_eq!(report.tests, Some(counts(1, 2, 1)));
    assert_failures(&report, &[("example.com/sum.TestTable/breaks", "sum_test.go", 14, "got 3, want 4")]);
    let report = tests_of(Kind::Go, &stdout(include_str!("samples/go_build.jsonl")));
    assert_eq!(report.tests, None);
    assert_eq!(
        (report.diagnostics[0].file.as_deref(), report.diagnostics[0].line),
        (Some("./sum.go"), Some(4))
    );
}

#[test]
fn dotnet_by_its_report_and_by_its_text() {
    for evidence in [files(include_str!("samples/dotnet.trx")), stdout(include_str!("samples/dotnet.txt"))] {
        let report = tests_of(Kind::Dotnet, &evidence);
        assert_eq!(report.tests, Some(counts(1, 1, 1)));
        assert_failures(&report, &[("Sums.SumTests.Breaks", "/project/SumTests.cs", 15, "Expected: 4")]);
    }
}

#[test]
fn maven_by_its_report_and_by_its_text() {
    let report = tests_of(Kind::Maven, &files(include_str!("samples/surefire.xml")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(
        &report,
        &[("com.example.SumTest.breaks", "SumTest.java", 14, "expected: <4> but was: <3>")],
    );
    let report = tests_of(Kind::Maven, &stdout(include_str!("samples/maven.txt")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(&report, &[("SumTest.breaks", "SumTest.java", 14, "expected: <4> but was: <3>")]);
}

#[test]
fn maven_that_does_not_compile() {
    let report = tests_of(Kind::Maven, &stdout(include_str!("samples/maven_compile.txt")));
    assert_eq!((report.count(Severity::Error), report.count(Severity::Warning)), (1, 1));
    assert_eq!((report.diagnostics[0].line, report.diagnostics[0].column), (Some(5), Some(16)));
}

#[test]
fn gradle() {
    let report = tests_of(Kind::Gradle, &stdout(include_str!("samples/gradle.txt")));
    assert_eq!(report.tests, Some(counts(1, 1, 1)));
    assert_failures(&report, &[("SumTest > breaks()", "SumTest.java", 14, "AssertionFailedError")]);
}

#[test]
fn noise_is_not_taken_for_results() {
    let noise = "Finished in 3s\n✖ something\nFAILED to connect\n3 passing cars\ntest result unknown\n{\"not\": \"cargo\"}\n";
    for kind in [Kind::Cargo, Kind::Go, Kind::Dotnet, Kind::Gradle, Kind::Npm, Kind::Python, Kind::Make] {
        let report = tests_of(kind, &stdout(noise));
        assert!(report.failures.is_empty() && report.diagnostics.is_empty(), "{kind:?} {report:?}");
    }
}
