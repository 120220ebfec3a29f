//! Finds the members of an object in validated text, without validating it again.
//!
//! For invalid text it returns some members or none, without a panic and in linear time.

use super::{
    Member,
    word::{WORD, blocks_without_quote, first_mark, quotes, quotes_and_escapes, word_at},
};

/// Bytes of a string that are scanned by words before the scan switches to blocks.
const NEAR: usize = 64;

/// Iterates over the members of an object, in order.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// The members of validated text; `None` if it is not an object.
pub(crate) fn checked_members(text: &[u8]) -> Option<Members<'_>> {
    (text.first() == Some(&b'{')).then_some(Members { text, at: 1 })
}

impl Iterator for Members<'_> {
    type Item = Member;

    #[inline]
    fn next(&mut self) -> Option<Member> {
        let text = self.text;
        let mut at = skip_blanks(text, self.at);
        if text.get(at) == Some(&b',') {
            at = skip_blanks(text, at + 1);
        }
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let (behind, escaped) = skip_name(text, at);
        let key = at + 1..(behind - 1).max(at + 1);
        at = skip_blanks(text, behind);
        if text.get(at) != Some(&b':') {
            return None;
        }
        let start = skip_blanks(text, at + 1);
        self.at = skip_value(text, start);
        Some(Member { key, escaped, value: start..self.at })
    }
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| *byte <= b' ') {
        at += 1;
    }
    at
}

fn skip_value(text: &[u8], mut at: usize) -> usize {
    match text.get(at) {
        Some(b'"') => skip_string(text, at),
        Some(b'{' | b'[') => skip_container(text, at),
        _ => {
            while !matches!(text.get(at), None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r')) {
                at += 1;
            }
            at
        }
    }
}

fn skip_container(text: &[u8], mut at: usize) -> usize {
    /// Braces and brackets differ only in this bit.
    const BRACES: u8 = 0x20;
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte == b'"' {
            at = skip_string(text, at - 1);
        } else if byte | BRACES == b'{' {
            depth += 1;
        } else if byte | BRACES == b'}' {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    text.len()
}

/// The offset after a name that begins at `at`, and true if it has escapes.
#[inline]
fn skip_name(text: &[u8], at: usize) -> (usize, bool) {
    let mut here = at + 1;
    while let Some(word) = word_at(text, here) {
        let marks = quotes_and_escapes(word);
        if marks == 0 {
            here += WORD;
            continue;
        }
        here += first_mark(marks);
        if text[here] == b'"' {
            return (here + 1, false);
        }
        break;
    }
    let behind = skip_string(text, at);
    (behind, text[at + 1..behind].contains(&b'\\'))
}

/// The offset after a string that begins at `at`, found by searching for its closing quote.
#[inline]
fn skip_string(text: &[u8], at: usize) -> usize {
    let start = at + 1;
    let mut from = start;
    while let Some(quote) = find_quote(text, from) {
        if !is_escaped(text, start, quote) {
            return quote + 1;
        }
        from = quote + 1;
    }
    // Impossible in validated text; the end of the text counts as the closing quote.
    text.len()
}

#[inline]
fn find_quote(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(word) = word_at(text, at) {
        let marks = quotes(word);
        if marks != 0 {
            return Some(at + first_mark(marks));
        }
        at += WORD;
        if at == from + NEAR {
            at += blocks_without_quote(&text[at..]);
        }
    }
    text.get(at..)?.iter().position(|byte| *byte == b'"').map(|found| at + found)
}

/// True if a quote is part of the string that begins at `start`: an odd number of backslashes
/// precedes it.
#[inline]
fn is_escaped(text: &[u8], start: usize, quote: usize) -> bool {
    text[quote - 1] == b'\\'
        && text[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}
