//! Checks HTML and XML: a tag with very many attributes takes quadratic time to parse.

use super::{Limits, Refused};

/// Counts `=` in every tag, which is no less than its attributes with a value, and the words,
/// which are no less than those without.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), Refused> {
    let mut rest = bytes;
    while let Some(start) = memchr::memchr(b'<', rest) {
        rest = &rest[start + 1..];
        // Only a letter opens a tag; anything else is text or a comment.
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let length = tag(rest, limits)?;
        rest = &rest[length..];
    }
    Ok(())
}

/// The length of a tag, which ends with a `>` outside quotes.
fn tag(bytes: &[u8], limits: &Limits) -> Result<usize, Refused> {
    let mut attributes = 0;
    let mut quote = None;
    let mut after_equals = false;
    let mut before = b'<';
    for (at, byte) in bytes.iter().copied().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if byte == b'>' => return Ok(at),
            // A quote opens a value only after `=`.
            None if matches!(byte, b'"' | b'\'') && after_equals => quote = Some(byte),
            None if !byte.is_ascii_whitespace() && (before.is_ascii_whitespace() || before == b'/') => {
                attributes += 1;
            }
            _ => {}
        }
        if attributes > limits.attributes {
            return Err(Refused::Attributes { limit: limits.attributes });
        }
        if quote.is_none() && !byte.is_ascii_whitespace() {
            after_equals = byte == b'=';
        }
        before = byte;
    }
    Ok(bytes.len())
}
