//! Blanks, strings, numbers and words.

use super::keys::Key;
use crate::{Defect, malformed::Flaw};

pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), Flaw> {
        if self.take(byte) { Ok(()) } else { Err(self.broken(otherwise)) }
    }

    pub(super) fn fail(&self, defect: Defect) -> Flaw {
        Flaw { defect, offset: self.at }
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn key(&mut self) -> Result<Key, Flaw> {
        if self.peek() != Some(b'"') {
            return Err(self.broken("expected a member name"));
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        Ok(Key { start, end: self.at - 1, escaped })
    }

    pub(super) fn scalar(&mut self) -> Result<(), Flaw> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err(self.broken("expected a value")),
        }
    }

    fn broken(&self, what: &'static str) -> Flaw {
        let what = if self.at >= self.text.len() { "it ends in the middle" } else { what };
        self.fail(Defect::Json(what))
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Flaw> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.broken("expected a value"))
        }
    }

    /// Walks a string; tells whether it has escapes.
    fn string(&mut self) -> Result<bool, Flaw> {
        self.bump();
        let mut escaped = false;
        loop {
            self.at += plain_run(&self.text[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.bump();
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.broken("a control character in a string")),
                None => return Err(self.broken("")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Flaw> {
        self.bump();
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.bump(),
            Some(b'u') => {
                let digits = self.text.get(self.at + 1..self.at + 5);
                if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.broken("`\\u` without four hexadecimal digits"));
                }
                self.at += 5;
            }
            _ => return Err(self.broken("an unknown escape in a string")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Flaw> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.broken("a number without digits")) } else { Ok(()) }
    }
}

/// Bytes that are looked at together in a long run.
const BLOCK: usize = 32;

/// The length of the run of string bytes that need no look: no quote, no backslash, no control character.
#[inline]
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let mut run = 0;
    while let Some(word) = text[run..].first_chunk::<8>() {
        let odd = odd_bytes(u64::from_le_bytes(*word));
        if odd != 0 {
            return run + odd.trailing_zeros() as usize / 8;
        }
        run += 8;
        // Most strings are short, and most of the others are very long.
        if run == BLOCK {
            run += plain_blocks(&text[run..]);
        }
    }
    let rest = &text[run..];
    run + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
}

fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// Marks the first byte of a word that is not plain, and perhaps some behind it.
#[inline]
fn odd_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // A byte of `word ^ pattern` is zero where it matches; `(x - 1) & !x & 0x80` marks zero bytes, and the same with 0x20
    // marks those below it. A borrow may mark a byte behind a true match, never one before the first.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let quotes = below(word ^ (ONES * u64::from(b'"')), 1);
    let escapes = below(word ^ (ONES * u64::from(b'\\')), 1);
    (quotes | escapes | below(word, 0x20)) & HIGH
}

/// How many bytes of whole blocks are plain. Written so that the compiler compares a block at once.
fn plain_blocks(text: &[u8]) -> usize {
    let plain = |block: &&[u8]| block.iter().fold(true, |plain, byte| plain & is_plain(*byte));
    text.chunks_exact(BLOCK).take_while(plain).count() * BLOCK
}
