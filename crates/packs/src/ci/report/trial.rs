//! Parses a text as the output of every kind of run, for fuzzing and other external tests.

use serde_json::{Value, json};

use super::{
    super::{
        log_text::plain,
        project::{Action, Kind},
    },
    evidence::Evidence,
    read::{Reading, read},
};

/// The reports of all kinds of runs for this output.
pub fn reports(text: &str) -> Vec<Value> {
    let output = plain(text);
    let evidence = Evidence { stdout: output.clone(), stderr: output, files: vec![text.to_owned()] };
    let of_projects = Kind::ALL
        .iter()
        .flat_map(|kind| [Action::RunTests, Action::Build].map(|action| Reading::Project(*kind, action)));
    let report = |reading| {
        let report = read(reading, &evidence);
        json!({
            "tests": report.tests,
            "failures": report.shown_failures(),
            "diagnostics": report.shown_diagnostics(),
            "readable": report.readable,
        })
    };
    of_projects.chain([Reading::Command]).map(report).collect()
}
