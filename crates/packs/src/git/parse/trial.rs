//! Reads a text in every format that git prints for us, for tests that bring texts of their own.

use serde_json::{Value, json};

use super::{blame, changes, commits, status};

/// What each format would say. Fields are ended by NUL.
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
