//! Documents that are made to break a reader, each converted by the real binary.

use super::{Served, code, documents};
use serde_json::Value;
use std::{fs, process::Command, thread};

/// What must become of hostile documents.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Failure,
    /// A failure, or a document: a reader may withstand the file.
    Either,
}

/// Converts every file of a directory at once. Each conversion must end, and one that fails must
/// have a code of files or processing, while other calls are answered.
fn all_end(directory: &str, outcome: Outcome) {
    let served = Served::with_limits();
    let mut names: Vec<String> = fs::read_dir(documents().join(directory))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    thread::scope(|scope| {
        let convert = |name: &String| {
            let (served, path) = (&served, format!("{directory}/{name}"));
            scope.spawn(move || (served.convert(&path), path))
        };
        let running: Vec<_> = names.iter().map(convert).collect();
        let meanwhile = served.call("read_file", &["path=good/page.html"]);
        assert_eq!(meanwhile["isError"], Value::Null, "{meanwhile}");
        for conversion in running {
            let (result, path) = conversion.join().unwrap();
            if outcome == Outcome::Either && result["structuredContent"]["document_id"].is_string() {
                continue;
            }
            let code = code(&result);
            assert!(["E003", "E004", "E302"].contains(&code), "{path}: {result}");
        }
    });
    let after = served.convert("good/report.docx");
    assert_eq!(after["isError"], Value::Null, "{after}");
    let mut left = Command::new("pgrep");
    left.args(["-P", &served.process.id().to_string(), "-f", "__convert"]);
    assert_eq!(left.output().unwrap().stdout, b"", "a converter is left");
}

#[test]
fn z01_bombs_and_endless_archives_end_in_an_error() {
    all_end("z01", Outcome::Failure);
}

#[test]
fn z02_packages_that_lead_elsewhere_end_in_an_error() {
    all_end("z02", Outcome::Failure);
}

#[test]
fn z04_hostile_xml_ends_in_an_error() {
    all_end("z04", Outcome::Failure);
}

#[test]
fn z05_lies_and_hostile_structures_end_in_an_error() {
    all_end("z05", Outcome::Failure);
}

#[test]
fn z05_structures_that_a_reader_may_withstand_end_within_the_limits() {
    all_end("withstood", Outcome::Either);
}
