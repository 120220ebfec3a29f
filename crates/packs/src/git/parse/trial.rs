//! Parses a text in every format of git's output, for fuzzing and other external tests.

use serde_json::{Value, json};

use super::{blame, changes, commits, status};

/// The results of all parsers. Fields are terminated by NUL.
pub fn listings(text: &str) -> Vec<Value> {
    let fields: Vec<String> = text.split('\0').map(str::to_owned).collect();
    let lines =
        |changed: &[super::FileChange]| changed.iter().map(super::FileChange::line).collect::<Vec<_>>();
    let changed = changes(fields.clone());
    vec![
        json!(blame(text)),
        json!(commits(&fields)),
        json!({"files": changed, "lines": lines(&changed)}),
        json!(status(fields).1),
    ]
}
