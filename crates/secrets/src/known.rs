//! Secrets that the caller knows. They are hidden wherever they occur, also when escaped for JSON
//! or percent-encoded.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::{collections::BTreeSet, fmt::Write, ops::Range};

/// Minimum length. Shorter values are not secrets, and hiding them would make texts unreadable.
const SHORTEST: usize = 6;

/// Minimum length of a line of a known value that is hidden on its own.
const SHORTEST_LINE: usize = 16;

/// Total length of values up to which the fastest automaton is built. Building it takes quadratic
/// time for values such as `xxxx…`, and a server chooses its tokens.
const MAX_FAST: usize = 4096;

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
        // Longest match first: if one value contains another, the whole longer value must be
        // hidden.
        let is_long = forms.iter().map(String::len).sum::<usize>() > MAX_FAST;
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(is_long.then_some(AhoCorasickKind::ContiguousNFA))
            .build(forms)
            .ok()?;
        Some(Self { automaton })
    }

    pub(crate) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        found.extend(self.automaton.find_iter(text).map(|hit| hit.range()));
    }
}

/// The value as written in a JSON string.
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

/// The value as written in the query of a URL.
fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the fastest automaton this would take minutes.
    #[test]
    fn c07_a_long_value_of_one_character_is_hidden_and_costs_little() {
        let value = "x".repeat(1 << 17);
        let known = Known::new([value.as_str(), "other-value"]).unwrap();
        let mut found = Vec::new();
        known.find(&format!("a {value} and other-value"), &mut found);
        assert_eq!(found, [2..2 + value.len(), value.len() + 7..value.len() + 18]);
    }
}
