//! Runs of MCP Inspector's command line, which reconnects for each method.

use crate::{
    cell::Cell,
    peers,
    visit::{Errand, Report, output},
};
use serde_json::Value;

/// Its exit code if a tool's result is an error.
const TOOL_ERROR: i32 = 5;

pub(crate) async fn visit(cell: Cell, errands: &[Errand]) -> Vec<Report> {
    let mut reports = Vec::new();
    for errand in errands {
        reports.push(run_errand(cell, errand).await);
    }
    reports
}

async fn run_errand(cell: Cell, errand: &Errand) -> Report {
    let Errand { target, calls, .. } = errand;
    let greeting = run(cell, target, &["--method", "initialize"]).await;
    let listed = run(cell, target, &["--method", "tools/list"]).await;
    let tools = listed["tools"].as_array().unwrap();
    let mut results = Vec::new();
    for (tool, arguments) in calls {
        let arguments = arguments.to_string();
        let words = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
        results.push(run(cell, target, &words).await);
    }
    Report {
        revision: greeting["protocolVersion"].as_str().unwrap().to_owned(),
        tools: tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(),
        results,
        read: Vec::new(),
        prompted: Vec::new(),
        asked: Vec::new(),
    }
}

async fn run(cell: Cell, target: &[String], words: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = peers::inspector();
    command.args(["--protocol-era", cell.era_word(), "--transport", cell.carrier.word()]);
    // It keeps files in its home directory, and must not read the settings of the user who runs
    // the test.
    command.args(words).arg("--").args(target).env("HOME", home.path());
    let output = output(&mut command).await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let printed: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{cell:?} {words:?}: {error}\n{complaint}"));
    let expected = if printed["isError"] == true { TOOL_ERROR } else { 0 };
    assert_eq!(output.status.code(), Some(expected), "{cell:?} {words:?}: {complaint}");
    printed
}
