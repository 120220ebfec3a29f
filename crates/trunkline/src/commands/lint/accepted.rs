//! Reads and writes the baseline file (accepted findings) and the lock file (accepted tools).

use crate::failure::Failure;
use serde::Serialize;
use std::{fs, path::Path};
use trunkline_config::read_regular_text;
use trunkline_lint::{Baseline, Report, lock_of};
use trunkline_lock::Lock;

/// Maximum size of a baseline or lock file.
const MAX_FILE: u64 = 64 * 1024 * 1024;

pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
    let bad =
        |reason: String| Failure::usage(format!("the baseline {} cannot be used: {reason}", path.display()));
    let text = read_regular_text(path, MAX_FILE).map_err(|error| bad(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| bad(error.to_string()))
}

pub(super) fn write(path: &Path, report: &Report) -> Result<(), Failure> {
    keep(path, "baseline", &Baseline::of(report))
}

pub(super) fn read_lock(path: &Path) -> Result<Lock, Failure> {
    let bad =
        |reason: String| Failure::usage(format!("the lock file {} cannot be used: {reason}", path.display()));
    let text = read_regular_text(path, MAX_FILE).map_err(|error| bad(error.to_string()))?;
    Lock::read(&text).map_err(|error| bad(error.to_string()))
}

pub(super) fn write_lock(path: &Path, report: &Report) -> Result<(), Failure> {
    keep(path, "lock file", &lock_of(report))
}

fn keep(path: &Path, what: &str, value: &impl Serialize) -> Result<(), Failure> {
    let bad =
        |reason: String| Failure::usage(format!("the {what} {} cannot be written: {reason}", path.display()));
    let mut text = serde_json::to_string_pretty(value).map_err(|error| bad(error.to_string()))?;
    text.push('\n');
    fs::write(path, text).map_err(|error| bad(error.to_string()))
}
