//! The baseline file: what is known and accepted.

use crate::failure::Failure;
use std::{fs, path::Path};
use trunkline_lint::{Baseline, Report};

pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
    let bad =
        |reason: String| Failure::usage(format!("the baseline {} cannot be used: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| bad(error.to_string()))
}

pub(super) fn write(path: &Path, report: &Report) -> Result<(), Failure> {
    let bad = |reason: String| {
        Failure::usage(format!("the baseline {} cannot be written: {reason}", path.display()))
    };
    let mut text =
        serde_json::to_string_pretty(&Baseline::of(report)).map_err(|error| bad(error.to_string()))?;
    text.push('\n');
    fs::write(path, text).map_err(|error| bad(error.to_string()))
}
