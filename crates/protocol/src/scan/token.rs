//! The tokens of JSON: whitespace, strings, numbers and literals.

use super::{
    keys::Key,
    word::{WORD, first_mark, has_high, is_plain, odd_bytes, plain_blocks, word_at},
};
use crate::{Defect, malformed::Flaw};

/// Bytes of a string run that are scanned by words before the scan switches to blocks.
const LONG: usize = 64;

/// The scan failed; the reason is in the cursor. Zero-sized, because every step may return it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop;

pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The bitwise OR of all string bytes, which shows if all of them are ASCII.
    seen: u64,
    /// The reason for which the scan failed.
    flaw: Option<Flaw>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, seen: 0, flaw: None }
    }

    #[inline]
    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), Stop> {
        if self.take(byte) { Ok(()) } else { Err(self.broken(otherwise)) }
    }

    /// True if all strings so far are ASCII. May be false for ASCII, because a word can include
    /// bytes after the string.
    pub(super) fn is_ascii(&self) -> bool {
        !has_high(self.seen)
    }

    /// Fails the scan at this offset.
    #[cold]
    pub(super) fn fail(&mut self, defect: Defect) -> Stop {
        self.stop(Flaw { defect, offset: self.at })
    }

    #[cold]
    pub(super) fn stop(&mut self, flaw: Flaw) -> Stop {
        self.flaw = Some(flaw);
        Stop
    }

    /// The reason for which the scan failed.
    pub(super) fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        // `byte <= b' '` is nearly always false, and then it is the only comparison.
        while let Some(byte) = self.peek()
            && byte <= b' '
            && matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
        {
            self.at += 1;
        }
    }

    #[inline]
    pub(super) fn key(&mut self) -> Result<Key, Stop> {
        if self.peek() != Some(b'"') {
            return Err(self.broken("expected a member name"));
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        Ok(Key { start, end: self.at - 1, escaped })
    }

    #[inline]
    pub(super) fn scalar(&mut self) -> Result<(), Stop> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err(self.broken("expected a value")),
        }
    }

    #[cold]
    fn broken(&mut self, what: &'static str) -> Stop {
        let what = if self.at >= self.text.len() { "unexpected end of the text" } else { what };
        self.fail(Defect::Json(what))
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.broken("expected a value"))
        }
    }

    /// Skips a string and returns true if it has escapes.
    #[inline]
    fn string(&mut self) -> Result<bool, Stop> {
        // Most names and many values are so short that the closing quote is in the first word.
        let start = self.at + 1;
        if let Some(word) = word_at(self.text, start) {
            let end = start + first_mark(odd_bytes(word));
            if end < start + WORD && self.text[end] == b'"' {
                self.seen |= word;
                self.at = end + 1;
                return Ok(false);
            }
        }
        self.at = start;
        self.string_on()
    }

    /// Continues in a string that is longer than a word.
    fn string_on(&mut self) -> Result<bool, Stop> {
        let (text, start) = (self.text, self.at);
        let (mut at, mut seen) = (start, self.seen);
        while let Some(word) = word_at(text, at) {
            seen |= word;
            let odd = odd_bytes(word);
            if odd != 0 {
                at += first_mark(odd);
                if text[at] != b'"' {
                    break;
                }
                self.seen = seen;
                self.at = at + 1;
                return Ok(false);
            }
            at += WORD;
            if at == start + LONG {
                break;
            }
        }
        self.seen = seen;
        self.at = at;
        self.long_string(start)
    }

    /// Continues in a string that is long or has escapes.
    fn long_string(&mut self, mut run: usize) -> Result<bool, Stop> {
        let mut escaped = false;
        let mut blocks = run + LONG;
        loop {
            if self.at == blocks {
                self.plain_blocks();
            }
            let Some(word) = word_at(self.text, self.at) else { return self.string_end(escaped) };
            let odd = odd_bytes(word);
            self.seen |= word;
            if odd == 0 {
                self.at += WORD;
                continue;
            }
            self.at += first_mark(odd);
            match self.text[self.at] {
                b'"' => {
                    self.bump();
                    return Ok(escaped);
                }
                b'\\' => {
                    escaped = true;
                    // If the last run between escapes was long, the next one probably is: use
                    // blocks at once.
                    let wait = if self.at - run >= LONG { 0 } else { LONG };
                    self.escape()?;
                    run = self.at;
                    blocks = run + wait;
                }
                _ => return Err(self.broken("a control character in a string")),
            }
        }
    }

    fn plain_blocks(&mut self) {
        let (run, seen) = plain_blocks(&self.text[self.at..]);
        self.at += run;
        self.seen |= u64::from(seen);
    }

    /// Reads the rest of a string byte by byte when less than a word of text is left.
    fn string_end(&mut self, mut escaped: bool) -> Result<bool, Stop> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.bump();
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(byte) if is_plain(byte) => {
                    self.seen |= u64::from(byte);
                    self.bump();
                }
                Some(_) => return Err(self.broken("a control character in a string")),
                None => return Err(self.broken("")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Stop> {
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

    fn number(&mut self) -> Result<(), Stop> {
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

    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.broken("a number without digits")) } else { Ok(()) }
    }
}
