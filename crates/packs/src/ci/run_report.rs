//! The answer of all tools that run programs.

use std::{fmt::Write as _, path::Path};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    action::shown,
    job::{Done, Job, Outcome},
    log_text::{Tail, plain, tail},
    project::{Action, Kind},
    report::{Diagnostic, Reading, Report, Severity, TestCounts, TestFailure},
};
use crate::text_and_data::TextAndData;
use trunkline_secrets::counted;

/// Log lines in the answer for a failed or running job; below: for a successful one.
const TAIL_LINES: usize = 120;
const TAIL_LINES_OF_SUCCESS: usize = 20;

/// Maximum size of the log in an answer, in bytes.
const TAIL_BYTES: usize = 12 * 1024;

/// The report of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunReport {
    /// Id of the run for `job_status`, `job_log` and `cancel_job`.
    job_id: String,
    state: State,
    /// True if it ended with status 0; false while it runs.
    success: bool,
    /// One-line summary.
    summary: String,
    /// Missing while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Advice about the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    /// The command that was run.
    command: String,
    /// Working directory, relative to the first open directory.
    directory: String,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<TestCounts>,
    /// At most 50.
    failures: Vec<TestFailure>,
    /// Errors first; at most 50.
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// The end of the log.
    log_tail: String,
    /// Size of the whole log in bytes.
    log_size_bytes: u64,
    /// True if failures, diagnostics or the log are truncated; `job_log` returns the whole log.
    truncated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Ended,
}

impl RunReport {
    /// The report of a finished or running job.
    pub(super) fn answer(job: &Job, done: Option<&Done>, root: &Path) -> TextAndData<Self> {
        let nothing = Report::default();
        let report = done.map_or(&nothing, |done| &done.report);
        let log = log(job, done);
        let (kind, action) = match job.reading {
            Reading::Project(kind, action) => (Some(kind), Some(action)),
            Reading::Command => (None, None),
        };
        let data = Self {
            job_id: job.id.clone(),
            state: if done.is_some() { State::Ended } else { State::Running },
            success: done.is_some_and(|done| done.outcome() == Outcome::Succeeded),
            summary: summary(job, done),
            outcome: done.map(Done::outcome),
            exit_code: done.and_then(Done::exit_code),
            signal: done.and_then(Done::signal),
            advice: done.and_then(Done::advice).map(str::to_owned),
            kind,
            action,
            command: job.line.clone(),
            directory: shown(job.directory.path(), root),
            duration_ms: u64::try_from(job.elapsed().as_millis()).unwrap_or(u64::MAX),
            tests: report.tests,
            failures: report.shown_failures().to_vec(),
            diagnostics: report.shown_diagnostics().to_vec(),
            errors: report.count(Severity::Error),
            warnings: report.count(Severity::Warning),
            truncated: log.truncated
                || report.shown_failures().len() < report.failures.len()
                || report.shown_diagnostics().len() < report.diagnostics.len(),
            log_tail: log.text,
            log_size_bytes: job.output_bytes(),
        };
        TextAndData { text: data.text(), data }
    }

    /// Text for people, most important facts first.
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.summary);
        let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string does not fail");
        line(format!("{} in {}", self.command, self.directory));
        if let Some(advice) = &self.advice {
            line(advice.clone());
        }
        for failure in &self.failures {
            line(format!(
                "\nFAILED {}{}\n{}",
                failure.name,
                at(failure.file.as_ref(), failure.line),
                failure.message
            ));
        }
        for found in &self.diagnostics {
            let word = if found.severity == Severity::Error { "error" } else { "warning" };
            let code = found.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
            line(format!("{word}{code}{}: {}", at(found.file.as_ref(), found.line), found.message));
        }
        if !self.log_tail.is_empty() {
            line(format!("\nEnd of the log:\n{}", self.log_tail));
        }
        match self.state {
            State::Running => line(format!(
                "\nStill running. Call job_status with jobId {} and waitSeconds 25.",
                self.job_id
            )),
            State::Ended if self.truncated => {
                line(format!("\nThe whole log: job_log with jobId {}.", self.job_id));
            }
            State::Ended => {}
        }
        text
    }
}

fn log(job: &Job, done: Option<&Done>) -> Tail {
    let lines = match done {
        Some(done) if done.outcome() == Outcome::Succeeded => TAIL_LINES_OF_SUCCESS,
        _ => TAIL_LINES,
    };
    match done.and_then(|done| done.report.readable.as_deref()) {
        Some(readable) => tail(readable, lines, TAIL_BYTES),
        None => tail(&plain(&job.output()), lines, TAIL_BYTES),
    }
}

fn summary(job: &Job, done: Option<&Done>) -> String {
    let what = match job.reading {
        Reading::Project(_, action) => action.name(),
        Reading::Command => "command",
    };
    let seconds = job.elapsed().as_secs_f64();
    let Some(done) = done else { return format!("{what} has been running for {seconds:.1} s") };
    let how = match done.outcome() {
        Outcome::Succeeded => "succeeded".to_owned(),
        Outcome::TooMuchMemory => "was killed because it used too much memory".to_owned(),
        Outcome::TooManyProcesses => "was killed because it started too many processes".to_owned(),
        _ => format!("failed: it {}", done.finished.ending),
    };
    let mut summary = format!("{what} {how} after {seconds:.1} s");
    if let Some(tests) = done.report.tests {
        let counts = format!(
            "; {} of {} tests failed, {} passed, {} skipped",
            tests.failed,
            tests.total(),
            tests.passed,
            tests.skipped
        );
        summary.push_str(&counts);
    }
    let (errors, warnings) = (done.report.count(Severity::Error), done.report.count(Severity::Warning));
    if errors + warnings > 0 {
        write!(summary, "; {}, {}", counted(errors, "error"), counted(warnings, "warning"))
            .expect("writing to a string does not fail");
    }
    summary
}

fn at(file: Option<&String>, line: Option<u64>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    }
}
