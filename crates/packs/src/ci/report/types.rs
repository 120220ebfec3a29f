//! The data of a report.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::{
    log_text::{cut, plain},
    redact::redact,
};

/// Maximum number of failures, and of diagnostics, in one report.
const MOST: usize = 50;

/// Maximum length of a message in bytes.
const LONGEST_MESSAGE: usize = 1500;

/// The result of parsing a run's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Report {
    pub(in super::super) tests: Option<TestCounts>,
    pub(in super::super) failures: Vec<TestFailure>,
    pub(in super::super) diagnostics: Vec<Diagnostic>,
    /// Readable output, if the program wrote a machine format.
    pub(in super::super) readable: Option<String>,
}

/// Numbers of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct TestCounts {
    pub(in super::super) passed: u64,
    pub(in super::super) failed: u64,
    pub(in super::super) skipped: u64,
}

/// A failed test, with its location and message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct TestFailure {
    pub(in super::super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) line: Option<u64>,
    /// The framework's message.
    pub(in super::super) message: String,
}

/// A message of a compiler or linter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Diagnostic {
    pub(in super::super) severity: Severity,
    pub(in super::super) message: String,
    /// The rule or error code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) column: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Severity {
    Error,
    Warning,
}

impl Report {
    /// True if nothing was recognized.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.tests.is_none() && self.failures.is_empty() && self.diagnostics.is_empty()
    }

    pub(in super::super) fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    /// Removes duplicates, secrets and terminal controls, and puts errors first. Secrets and
    /// controls must be removed here, because a machine format may escape them in the raw text.
    pub(super) fn tidy(mut self) -> Self {
        let mut seen = HashSet::new();
        self.diagnostics.retain(|diagnostic| seen.insert(diagnostic.clone()));
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
        for diagnostic in self.diagnostics.iter_mut().take(MOST) {
            diagnostic.message = short(&diagnostic.message);
            diagnostic.code = diagnostic.code.as_deref().map(plain);
            diagnostic.file = diagnostic.file.as_deref().map(plain);
        }
        for failure in self.failures.iter_mut().take(MOST) {
            failure.message = short(&failure.message);
            failure.name = plain(&failure.name);
            failure.file = failure.file.as_deref().map(plain);
        }
        self.readable = self.readable.as_deref().map(plain);
        self
    }

    /// Adds a failure. Stops at one more than are shown, which is enough to know that there are
    /// more and bounds the work for hostile output.
    pub(super) fn fail(&mut self, failure: impl FnOnce() -> TestFailure) {
        if self.failures.len() <= MOST {
            self.failures.push(failure());
        }
    }

    /// The failures to show.
    pub(in super::super) fn shown_failures(&self) -> &[TestFailure] {
        &self.failures[..self.failures.len().min(MOST)]
    }

    /// The diagnostics to show.
    pub(in super::super) fn shown_diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics[..self.diagnostics.len().min(MOST)]
    }
}

impl TestCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    pub(in super::super) fn total(self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

/// Parses a number of tests. An unrealistic number is ignored, so that sums cannot overflow.
pub(super) fn count(text: &str) -> Option<u64> {
    text.parse::<u32>().ok().map(u64::from)
}

fn short(message: &str) -> String {
    let message = redact(plain(message).trim());
    let kept = cut(&message, LONGEST_MESSAGE);
    if kept.len() < message.len() { format!("{kept}…") } else { message }
}
