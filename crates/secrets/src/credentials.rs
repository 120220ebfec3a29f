//! Credentials after the name of their scheme: `Bearer …` and `Basic …`.

use crate::{mask::Caution, ordinary::is_word};
use std::ops::Range;

/// Words that follow `bearer` in ordinary text.
const WORDS: &[&str] = &[
    "and",
    "auth",
    "authentication",
    "authorization",
    "challenge",
    "credential",
    "credentials",
    "for",
    "format",
    "header",
    "headers",
    "in",
    "is",
    "or",
    "realm",
    "scheme",
    "token",
    "tokens",
    "was",
];

/// Minimum length of a credential of the scheme `Basic`.
const SHORTEST_BASIC: usize = 8;

pub(crate) fn bearer(text: &[u8], scheme: &Range<usize>, caution: Caution) -> Option<Range<usize>> {
    let range = credential(text, scheme)?;
    let value = &text[range.clone()];
    let is_sentence = is_word(value) || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
    (value.len() >= caution.shortest() && !is_sentence).then_some(range)
}

/// The credential after `Basic`. It must be Base64, unlike the words in "basic usage" and "Basic
/// Authentication".
pub(crate) fn basic(text: &[u8], scheme: &Range<usize>) -> Option<Range<usize>> {
    let range = credential(text, scheme)?;
    let value = &text[range.clone()];
    let is_plain = |pair: &[u8]| !(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_base64 = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte))
        && (value.ends_with(b"=") || value.iter().any(u8::is_ascii_digit) || !value.windows(2).all(is_plain));
    (value.len() >= SHORTEST_BASIC && is_base64).then_some(range)
}

/// The word after a scheme, unless it is a parameter such as `realm="x"`.
fn credential(text: &[u8], scheme: &Range<usize>) -> Option<Range<usize>> {
    let is_own = scheme.start == 0 || !text[scheme.start - 1].is_ascii_alphanumeric();
    let behind = &text[scheme.end..];
    let blanks = behind.iter().take_while(|byte| **byte == b' ').count();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let length = behind[blanks..].iter().take_while(is_part).count();
    let start = scheme.end + blanks;
    let value = &text[start..start + length];
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_parameter = value[..length - padding].contains(&b'=')
        || padding > 0
            && text.get(start + length).is_some_and(|byte| b"\"'\\".contains(byte))
            && !is_quoted(text, scheme);
    let full_stop = usize::from(value.ends_with(b"."));
    (is_own && length > full_stop && !is_parameter).then_some(start..start + length - full_stop)
}

/// True if a quote directly precedes the scheme, so that a quote after the credential closes it.
fn is_quoted(text: &[u8], scheme: &Range<usize>) -> bool {
    scheme.start > 0 && b"\"'".contains(&text[scheme.start - 1])
}
