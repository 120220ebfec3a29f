//! Secrets that the caller knows: hidden wherever they occur, also as JSON or an address writes them.

use aho_corasick::{AhoCorasick, MatchKind};
use std::{collections::BTreeSet, fmt::Write, ops::Range};

/// A shorter value is no secret, and hiding it would tear texts apart.
const SHORTEST: usize = 6;

/// Shortest line of a known value that is hidden by itself.
const SHORTEST_LINE: usize = 16;

#[derive(Clone)]
pub(crate) struct Known {
    automaton: AhoCorasick,
}

impl Known {
    /// `None` if no value is long enough.
    pub(crate) fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut forms = BTreeSet::new();
        for value in values.into_iter().filter(|value| value.len() >= SHORTEST) {
            forms.extend([value.to_owned(), escaped(value), percent_encoded(value)]);
            let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
            forms.extend(lines.map(str::to_owned));
        }
        if forms.is_empty() {
            return None;
        }
        // A value inside a longer one must not leave the rest of it.
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok()?;
        Some(Self { automaton })
    }

    pub(crate) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        found.extend(self.automaton.find_iter(text).map(|hit| hit.range()));
    }
}

/// As it stands within a JSON text.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out
}

/// As it stands in the query of an address.
fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a String takes all text");
        }
    }
    out
}
