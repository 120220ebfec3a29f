//! Output of build tools, tests and git: for any output, the reports are bounded and free of
//! control characters.

use serde_json::Value;
use trunkline_packs::{ci, git};

/// Limits: entries of one kind, and bytes of a message including the ellipsis.
const MOST: usize = 50;
const LONGEST: usize = 1500 + '…'.len_utf8();

pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for report in ci::reports(&text) {
        for kind in ["failures", "diagnostics"] {
            let entries = report[kind].as_array().expect("a list");
            assert!(entries.len() <= MOST);
            assert!(
                entries
                    .iter()
                    .all(|entry| entry["message"].as_str().is_some_and(|text| text.len() <= LONGEST))
            );
        }
        is_harmless(&report);
    }
    for listing in git::listings(&text) {
        // File names are passed on unchanged; only the text for people must be clean.
        is_harmless(&listing["lines"]);
    }
}

/// Asserts that no string has control characters other than newline and tab.
fn is_harmless(value: &Value) {
    match value {
        Value::String(text) => {
            assert!(!text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{text:?}");
        }
        Value::Array(items) => items.iter().for_each(is_harmless),
        Value::Object(members) => members.values().for_each(is_harmless),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
