//! A walk over text that was checked before: where the members of an object lie, with nothing checked again.
//!
//! Text that breaks the rules all the same gives some members or none; it never panics and never reads twice.

use super::{
    Member,
    word::{WORD, blocks_without_quote, first_mark, quotes_and_escapes, word_at},
};

/// Bytes of a string that are walked word by word before a search is set up that pays for long ones.
const NEAR: usize = 64;

/// The members of an object, in their order; of anything else, none.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// The members of a checked text; `None` when it is not an object.
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
        let key = (at + 1, (behind - 1).max(at + 1));
        at = skip_blanks(text, behind);
        if text.get(at) != Some(&b':') {
            return None;
        }
        let start = skip_blanks(text, at + 1);
        self.at = skip_value(text, start);
        Some(Member { key, escaped, value: (start, self.at) })
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
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = skip_string(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The place behind a name that begins at `at`, and whether it has escapes.
#[inline]
fn skip_name(text: &[u8], at: usize) -> (usize, bool) {
    match near_quote(text, at + 1) {
        Near::Quote { at, escaped } => (at + 1, escaped),
        Near::Not { at: here } => {
            let behind = far_quote(text, here);
            (behind, memchr::memchr(b'\\', &text[at + 1..behind]).is_some())
        }
    }
}

/// The place behind a string that begins at `at`.
#[inline]
fn skip_string(text: &[u8], at: usize) -> usize {
    match near_quote(text, at + 1) {
        Near::Quote { at, .. } => at + 1,
        Near::Not { at } => far_quote(text, at),
    }
}

/// What the next bytes of a string have.
enum Near {
    Quote {
        at: usize,
        escaped: bool,
    },
    /// No end before here, where neither an escape nor a character is cut in two.
    Not {
        at: usize,
    },
}

/// Looks for the quote that ends a string, not very far.
#[inline]
fn near_quote(text: &[u8], start: usize) -> Near {
    let (mut at, mut escaped) = (start, false);
    while let Some(word) = word_at(text, at).filter(|_| at < start + NEAR) {
        let marks = quotes_and_escapes(word);
        if marks == 0 {
            at += WORD;
            continue;
        }
        at += first_mark(marks);
        if text[at] == b'"' {
            return Near::Quote { at, escaped };
        }
        escaped = true;
        at += 2;
    }
    if at + WORD > text.len() {
        return last_quote(text, at, escaped);
    }
    Near::Not { at }
}

/// The same where the text has no whole word left.
fn last_quote(text: &[u8], mut at: usize, mut escaped: bool) -> Near {
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return Near::Quote { at, escaped },
            b'\\' => {
                escaped = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
    Near::Not { at: text.len() }
}

/// The place behind a string that goes on at `at`, found by its quote alone: one that ends it has an even number of backslashes
/// before it. Among many escaped quotes the words are quicker, so both take turns.
fn far_quote(text: &[u8], mut at: usize) -> usize {
    loop {
        let far = at + blocks_without_quote(&text[at..]);
        let Some(quote) = text[far..].iter().position(|byte| *byte == b'"').map(|found| far + found) else {
            // Never so in checked text; the end counts as the quote.
            return text.len();
        };
        let escapes = text[at..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return quote + 1;
        }
        match near_quote(text, quote + 1) {
            Near::Quote { at, .. } => return at + 1,
            Near::Not { at: here } => at = here,
        }
    }
}
