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
    // Most strings are short, and most long ones are very long.
    let run = short_run(&text[..text.len().min(BLOCK)]);
    if run < BLOCK { run } else { run + long_run(&text[BLOCK..]) }
}

fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// Written so that the compiler compares whole blocks at once.
fn long_run(text: &[u8]) -> usize {
    let plain = |block: &&[u8]| block.iter().fold(true, |plain, byte| plain & is_plain(*byte));
    let blocks = text.chunks_exact(BLOCK).take_while(plain).count() * BLOCK;
    blocks + short_run(&text[blocks..])
}

fn short_run(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // A byte of `word ^ pattern` is zero where it matches; `(x - 1) & !x & 0x80` marks zero bytes, and the same with 0x20
    // marks those below it. A borrow may mark a byte behind a true match, never one before the first.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH;
    let mut run = 0;
    for chunk in text.chunks_exact(8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks are of eight"));
        let hits = below(word ^ (ONES * u64::from(b'"')), 1)
            | below(word ^ (ONES * u64::from(b'\\')), 1)
            | below(word, 0x20);
        if hits != 0 {
            return run + hits.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    let rest = &text[run..];
    run + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
}
