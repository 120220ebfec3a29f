//! Mask: hides secrets in texts.

use crate::{key_body, known::Known, random, scan};
use std::{borrow::Cow, fmt, ops::Range};

/// A single plain word that is shorter than this cannot contain a secret and is not scanned.
const SHORTEST: usize = 12;

/// The strictness of a mask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Caution {
    /// For texts that must stay readable: logs, reports, diagnoses.
    #[default]
    Readable,
    /// For stored records: also hides short values and long random words.
    Strict,
}

/// Hides secrets in texts. Made once and shared.
#[derive(Clone)]
pub struct Mask {
    mark: &'static str,
    caution: Caution,
    known: Option<Known>,
}

impl Mask {
    /// Creates a mask that replaces secrets with `mark`.
    pub const fn new(mark: &'static str, caution: Caution) -> Self {
        Self { mark, caution, known: None }
    }

    /// Also hides these values, wherever they occur.
    #[must_use]
    pub fn knowing<'a>(mut self, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.known = Known::new(values);
        self
    }

    /// The text with its secrets replaced.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Fast path for the usual case in a call, the name of an argument.
        if self.known.is_none() && is_short_word(text) {
            return Cow::Borrowed(text);
        }
        let found = self.find(text);
        if found.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(self.replace(text, 0..text.len(), &found))
        }
    }

    /// One part of a text with its secrets replaced, also those that begin before the part or end
    /// after it. `part` must be on character boundaries.
    pub fn hide_part(&self, text: &str, part: Range<usize>) -> String {
        self.replace(text, part, &self.find(text))
    }

    /// The ranges of secrets, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if let Some(known) = &self.known {
            known.find(text, &mut found);
        }
        if !is_short_word(text) {
            scan::find(text, self.caution, &mut found);
            key_body::find(text.as_bytes(), &mut found);
            if self.caution == Caution::Strict {
                random::find(text.as_bytes(), &mut found);
            }
        }
        found.sort_unstable_by_key(|range| range.start);
        found.dedup_by(|next, last| {
            let overlaps = next.start < last.end;
            if overlaps {
                last.end = last.end.max(next.end);
            }
            overlaps
        });
        found
    }

    fn replace(&self, text: &str, part: Range<usize>, found: &[Range<usize>]) -> String {
        let mut out = String::with_capacity(part.len());
        let mut shown = part.start;
        for secret in found.iter().filter(|secret| secret.end > part.start && secret.start < part.end) {
            out.push_str(&text[shown..secret.start.max(shown)]);
            out.push_str(self.mark);
            shown = secret.end.min(part.end);
        }
        out.push_str(&text[shown..part.end]);
        out
    }
}

fn is_short_word(text: &str) -> bool {
    text.len() < SHORTEST && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Caution {
    /// Minimum length of the value of a secret name; `token: 3` is a number of tokens.
    pub(crate) fn shortest(self) -> usize {
        match self {
            Self::Readable => 6,
            Self::Strict => 1,
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({:?})", self.caution)
    }
}

#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod tests;
