//! The members of a record, written as JSON that is one line of ASCII whatever goes in.

use super::clock;
use std::fmt::Write;

/// Longest text of one member, in characters; the rest is cut off.
const MAX_TEXT: usize = 256;

/// Members in the making. `kind` comes first, `time` second.
#[derive(Debug)]
pub(super) struct Members(String);

impl Members {
    pub(super) fn new(kind: &'static str) -> Self {
        Self(format!("\"kind\":\"{kind}\",\"time\":\"{}\"", clock::now()))
    }

    pub(super) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        quote(&mut self.0, value);
        self
    }

    pub(super) fn number(self, name: &str, value: u64) -> Self {
        self.json(name, &value.to_string())
    }

    /// `value` is JSON already.
    pub(super) fn json(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        to_ascii(&mut self.0, value);
        self
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn name(&mut self, name: &str) {
        write!(self.0, ",\"{name}\":").expect("a String takes all text");
    }
}

/// Appends `text` as a JSON string, in ASCII and on one line whatever it is, and cut off where it is long.
pub fn quote(out: &mut String, text: &str) {
    let cut = text.char_indices().nth(MAX_TEXT).map(|(at, _)| at);
    let short = cut.map_or_else(|| text.to_owned(), |at| format!("{}...", &text[..at]));
    to_ascii(out, &serde_json::Value::from(short).to_string());
}

/// Appends JSON, with everything escaped that a terminal or an eye could take for something else. Outside of strings JSON
/// is ASCII, so each other character stands in a string and may be escaped.
fn to_ascii(out: &mut String, json: &str) {
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a String takes all text");
            }
        }
    }
}
