//! A walk over text that was checked before: where the members of an object lie, with nothing checked again.
//!
//! Text that breaks the rules all the same gives some members or none; it never panics and never reads twice.

use super::Member;

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
        let (behind, escaped) = skip_string(text, at);
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

fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

fn skip_value(text: &[u8], mut at: usize) -> usize {
    match text.get(at) {
        Some(b'"') => skip_string(text, at).0,
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
                at = skip_string(text, at).0;
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

/// The place behind a string that begins at `at`, and whether it has escapes.
fn skip_string(text: &[u8], at: usize) -> (usize, bool) {
    let mut at = at + 1;
    let mut escaped = false;
    // In checked text only these two need a look.
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        if text[at] == b'"' {
            return (at + 1, escaped);
        }
        escaped = true;
        at += 2;
    }
    // Never so in checked text; the end counts as the quote.
    (text.len(), escaped)
}
