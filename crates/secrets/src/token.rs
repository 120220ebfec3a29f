//! Finds tokens by their shape.

use crate::shapes::{Proof, SHAPES, Shape};
use std::ops::Range;

/// Bytes after the prefix that are checked for a [`Proof`], unless the shape requires more.
const CHECKED_BYTES: usize = 128;

/// True if the whole value is a token of a known shape.
pub fn is_token(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_plain = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=+/~".contains(byte));
    is_plain && SHAPES.iter().any(|shape| at(bytes, shape, 0, shape.least).is_some())
}

/// The range of the token of this shape whose prefix is at `at`, if its body has at least `least`
/// characters.
pub(crate) fn at(text: &[u8], shape: &Shape, at: usize, least: usize) -> Option<Range<usize>> {
    if !text[at..].starts_with(shape.prefix.as_bytes()) || !begins_here(text, at, shape.proof) {
        return None;
    }
    Some(at..end_of(text, shape, at, least)?)
}

/// The end of a token. Only its first characters are judged, so that a long run with many prefixes
/// takes linear time.
fn end_of(text: &[u8], shape: &Shape, at: usize, least: usize) -> Option<usize> {
    let body = &text[at + shape.prefix.len()..];
    let checked =
        body.iter().take(CHECKED_BYTES.max(least)).take_while(|byte| shape.body.has(**byte)).count();
    if checked < least || !shape.proof.holds(&body[..checked]) {
        return None;
    }
    let fits = |index: usize| {
        body.get(index).is_some_and(|byte| {
            shape.body.has(*byte) || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
        })
    };
    // A dot or `=` belongs to the token only if the token continues after it.
    let continues =
        |index: usize| body.get(index).is_some_and(|byte| b".+=~".contains(byte)) && fits(index + 1);
    let end = (checked..=body.len()).find(|index| !fits(*index) && !continues(*index))?;
    let end = if body[..end].ends_with(b".") { end - 1 } else { end };
    Some(at + shape.prefix.len() + end)
}

/// True if a token may begin at `at`, that is, not in the middle of a word.
fn begins_here(text: &[u8], at: usize, proof: Proof) -> bool {
    let Some(last) = at.checked_sub(1).map(|before| text[before]) else { return true };
    if !last.is_ascii_alphanumeric() {
        return proof == Proof::None || !matches!(last, b'_' | b'-');
    }
    let before = &text[at.saturating_sub(12)..at];
    ends_escape(before) || ends_percent(before) || ends_color(before)
}

/// True if the text ends with a JSON escape `\n`, `\r` or `\t`.
fn ends_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

/// True if the text ends with a percent-encoded byte such as `%3D`.
fn ends_percent(before: &[u8]) -> bool {
    matches!(before, [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// True if the text ends with a terminal color sequence such as `ESC[31m`.
fn ends_color(before: &[u8]) -> bool {
    let Some(numbers) = before.strip_suffix(b"m") else { return false };
    numbers.iter().rev().find(|byte| !byte.is_ascii_digit() && **byte != b';') == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_an_example_and_a_counterexample() {
        for shape in SHAPES {
            assert!(shape.positive.starts_with(shape.prefix), "{}", shape.positive);
            assert!(is_token(shape.positive), "{}", shape.positive);
            assert!(!is_token(shape.negative), "{}", shape.negative);
            assert!(shape.least <= shape.issued, "{}", shape.prefix);
        }
    }

    #[test]
    fn tokens_begin_behind_escapes_and_end_before_a_full_stop() {
        let ghp = SHAPES.iter().find(|shape| shape.prefix == "ghp_").unwrap();
        for (text, begin, end) in [
            ("\\nghp_0123456789abcdef.", 2, 22),
            ("a%3Dghp_0123456789abcdef", 4, 24),
            ("\u{1b}[31mghp_0123456789abcdef\u{1b}[0m", 5, 25),
        ] {
            assert_eq!(at(text.as_bytes(), ghp, begin, 12), Some(begin..end), "{text}");
        }
        assert_eq!(at(b"xghp_0123456789abcdef", ghp, 1, 12), None);
    }
}
