//! `Report`: the verdicts of one run, each printed when its scenario ends.

use super::verdict::Verdict;

const NAME_WIDTH: usize = 38;

#[derive(Debug)]
pub(crate) struct Report {
    label: String,
    passed: usize,
    failed: usize,
}

impl Report {
    pub(super) fn new(label: String) -> Self {
        Self { label, passed: 0, failed: 0 }
    }

    pub(super) fn add(&mut self, scenario: &str, verdict: &Verdict) {
        let word = if verdict.passed() { "ok  " } else { "FAIL" };
        println!("  {word}  {scenario:NAME_WIDTH$}  {verdict}");
        for reason in verdict.reasons() {
            println!("          {reason}");
        }
        if !verdict.skipped().is_empty() {
            println!("          skipped: {}", verdict.skipped().join(", "));
        }
        if verdict.passed() {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }

    pub(crate) fn passed(&self) -> usize {
        self.passed
    }

    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    pub(crate) fn closing_line(&self) -> String {
        let Self { label, passed, failed } = self;
        format!("conformance {label}: {passed} passed, {failed} failed of {}", passed + failed)
    }
}
