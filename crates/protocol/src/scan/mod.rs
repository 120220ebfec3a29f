//! Validates a frame in one pass and returns the positions of its parts.
//!
//! The grammar is RFC 8259's. In addition, a frame may nest at most [`MAX_DEPTH`] levels and no
//! object at any depth may have a duplicate name: two parsers could see two different messages in
//! such a frame. Time is linear in the frame (n log n for objects of many members) and memory is
//! bounded by its size; nothing recurses.

mod keys;
mod stack;
mod token;
mod walk;
mod word;

use crate::{Defect, Malformed, Raw, RequestId, malformed::Flaw};
use bytes::Bytes;
use keys::{Key, Keys};
use stack::Stack;
use std::{borrow::Cow, ops::Range};
use token::{Cursor, Stop};
pub(crate) use walk::checked_members;
pub(crate) use word::plain_run;

/// Maximum nesting, counting the outermost value as the first level.
pub const MAX_DEPTH: usize = 128;

/// Numbers of levels and members that are stored without an allocation, enough for most frames.
const USUAL_DEPTH: usize = 8;
const USUAL_MEMBERS: usize = 8;

/// The positions of an object member's name (without quotes) and value.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) key: Range<usize>,
    pub(crate) escaped: bool,
    pub(crate) value: Range<usize>,
}

/// The members of a message, in their order.
#[derive(Debug)]
pub(crate) struct Message(Stack<MemberRange, USUAL_MEMBERS>);

/// A [`Member`] as a `Copy` type, which is cheaper to store.
#[derive(Debug, Clone, Copy, Default)]
struct MemberRange {
    key: Key,
    value: (usize, usize),
}

impl Message {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(Stack::new())
    }

    #[inline]
    pub(crate) fn members(&self) -> impl DoubleEndedIterator<Item = Member> {
        self.0.as_slice().iter().map(|range| Member {
            key: range.key.start..range.key.end,
            escaped: range.key.escaped,
            value: range.value.0..range.value.1,
        })
    }
}

impl Member {
    /// The decoded name. The scan has already refused names that cannot be decoded.
    pub(crate) fn name<'a>(&self, text: &'a [u8]) -> Cow<'a, str> {
        match self.plain_name(text) {
            Some(name) => Cow::Borrowed(std::str::from_utf8(name).unwrap_or_default()),
            None => Cow::Owned(keys::unescape(self.written(text)).unwrap_or_default()),
        }
    }

    /// The bytes of the name, unless it is written with escapes.
    #[inline]
    pub(crate) fn plain_name<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        (!self.escaped).then(|| self.written(text))
    }

    /// The name as written in the text.
    #[inline]
    fn written<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.key.clone()]
    }

    #[inline]
    pub(crate) fn is(&self, name: &str, text: &[u8]) -> bool {
        if self.escaped { self.name(text) == name } else { self.written(text) == name.as_bytes() }
    }

    /// The value as written in the text.
    #[inline]
    pub(crate) fn text<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.value.clone()]
    }

    #[inline]
    pub(crate) fn value(&self, text: &Bytes) -> Raw {
        Raw::trusted(text.slice(self.value.clone()))
    }
}

/// Validates a whole document and returns the range of its value.
pub(crate) fn document(text: &[u8]) -> Result<Range<usize>, Malformed> {
    let mut scanner = Scanner::new(fitting(text)?);
    scanner.cursor.skip_blanks();
    let start = scanner.cursor.at();
    let read = scanner.value(0);
    let end = scanner.cursor.at();
    scanner.end(read)?;
    Ok(start..end)
}

/// Validates a whole document and collects its members; `false`, without validation, if it is not
/// an object.
pub(crate) fn members(text: &[u8], message: &mut Message) -> Result<bool, Malformed> {
    let mut scanner = Scanner::new(fitting(text)?);
    scanner.cursor.skip_blanks();
    if scanner.cursor.peek() != Some(b'{') {
        return Ok(false);
    }
    let read = scanner.object(message);
    let is_whole = read.is_ok();
    match scanner.end(read) {
        Ok(()) => Ok(true),
        Err(flaw) if flaw.defect == Defect::Utf8 && !is_whole => Err(flaw.into()),
        Err(flaw) => Err(Malformed::from(flaw).with_id(only_id(message, text).as_ref())),
    }
}

/// The id among the members that were read before a defect, if there is exactly one.
fn only_id(message: &Message, text: &[u8]) -> Option<RequestId> {
    let mut ids = message.members().filter(|member| member.name(text) == "id");
    let (id, None) = (ids.next()?, ids.next()) else { return None };
    // The defect may be that the text is not UTF-8.
    let id = std::str::from_utf8(id.text(text)).ok()?;
    RequestId::read(Raw::trusted(Bytes::copy_from_slice(id.as_bytes()))).ok()
}

/// Validates a whole document that must be an array and returns the ranges of its elements, at
/// most `limit`.
pub(crate) fn elements(text: &[u8], limit: usize) -> Result<Vec<Range<usize>>, Malformed> {
    let mut scanner = Scanner::new(fitting(text)?);
    scanner.cursor.skip_blanks();
    let mut elements = Vec::new();
    let read = scanner.array(limit, &mut elements);
    scanner.end(read)?;
    Ok(elements)
}

/// The first byte that is not whitespace.
pub(crate) fn first_byte(text: &[u8]) -> Option<u8> {
    text.iter().copied().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

fn fitting(text: &[u8]) -> Result<&[u8], Flaw> {
    if u32::try_from(text.len()).is_ok() { Ok(text) } else { Err(Flaw { defect: Defect::Size, offset: 0 }) }
}

struct Scanner<'a> {
    cursor: Cursor<'a>,
    keys: Keys,
    /// For each open container: `Some(first key)` for an object, `None` for an array.
    open: Stack<Option<usize>, USUAL_DEPTH>,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn new(text: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(text), keys: Keys::new(), open: Stack::new() }
    }

    /// Reads an object. Members read before a defect stay in `message`.
    fn object(&mut self, message: &mut Message) -> Result<(), Stop> {
        self.cursor.expect(b'{', "expected an object")?;
        self.cursor.skip_blanks();
        if self.cursor.take(b'}') {
            return Ok(());
        }
        let first_key = self.keys.mark();
        loop {
            self.key()?;
            let at = self.keys.mark() - 1;
            let start = self.cursor.at();
            self.value(1)?;
            let key = self.keys.get(at);
            message.0.push(MemberRange { key, value: (start, self.cursor.at()) });
            self.cursor.skip_blanks();
            if !self.cursor.take(b',') {
                break;
            }
        }
        self.cursor.expect(b'}', "expected `,` or `}`")?;
        self.close(first_key)
    }

    fn array(&mut self, limit: usize, elements: &mut Vec<Range<usize>>) -> Result<(), Stop> {
        self.cursor.expect(b'[', "expected an array")?;
        self.cursor.skip_blanks();
        if self.cursor.take(b']') {
            return Ok(());
        }
        loop {
            self.cursor.skip_blanks();
            if elements.len() == limit {
                return Err(self.cursor.fail(Defect::LongBatch));
            }
            let start = self.cursor.at();
            self.value(1)?;
            elements.push(start..self.cursor.at());
            self.cursor.skip_blanks();
            if !self.cursor.take(b',') {
                break;
            }
        }
        self.cursor.expect(b']', "expected `,` or `]`")
    }

    /// Validates one value that begins here and is nested in `above` levels, without recursion.
    fn value(&mut self, above: usize) -> Result<(), Stop> {
        loop {
            match self.cursor.peek() {
                Some(b'{') => {
                    self.enter(above)?;
                    if !self.cursor.take(b'}') {
                        self.open.push(Some(self.keys.mark()));
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.enter(above)?;
                    if !self.cursor.take(b']') {
                        self.open.push(None);
                        continue;
                    }
                }
                _ => self.cursor.scalar()?,
            }
            if !self.after_value()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn enter(&mut self, above: usize) -> Result<(), Stop> {
        if above + self.open.len() >= MAX_DEPTH {
            return Err(self.cursor.fail(Defect::Depth));
        }
        self.cursor.bump();
        self.cursor.skip_blanks();
        Ok(())
    }

    /// Closes the containers that end here; `true` if another value follows inside an open
    /// container.
    #[inline]
    fn after_value(&mut self) -> Result<bool, Stop> {
        while let Some(container) = self.open.last() {
            self.cursor.skip_blanks();
            if self.cursor.take(b',') {
                if container.is_some() {
                    self.key()?;
                } else {
                    self.cursor.skip_blanks();
                }
                return Ok(true);
            }
            match container {
                Some(first_key) => {
                    self.cursor.expect(b'}', "expected `,` or `}`")?;
                    self.close(first_key)?;
                }
                None => self.cursor.expect(b']', "expected `,` or `]`")?,
            }
            self.open.truncate(self.open.len() - 1);
        }
        Ok(false)
    }

    /// Reads a member name, its colon and the whitespace after it.
    #[inline]
    fn key(&mut self) -> Result<(), Stop> {
        self.cursor.skip_blanks();
        let key = self.cursor.key()?;
        self.cursor.skip_blanks();
        self.cursor.expect(b':', "expected `:` after a member name")?;
        self.cursor.skip_blanks();
        self.keys.push(key);
        Ok(())
    }

    fn close(&mut self, first_key: usize) -> Result<(), Stop> {
        self.keys.close(first_key, self.cursor.text()).map_err(|flaw| self.cursor.stop(flaw))
    }

    /// The result of the scan: checks that nothing follows the value and that the text is UTF-8.
    fn end(&mut self, read: Result<(), Stop>) -> Result<(), Flaw> {
        self.cursor.skip_blanks();
        if read.is_ok() && self.cursor.peek().is_some() {
            let _stop = self.cursor.fail(Defect::Json("unexpected text after the value"));
        }
        match self.cursor.flaw() {
            None if self.cursor.is_ascii() => Ok(()),
            // An invalid encoding is reported first, because other defects mean little in text
            // that cannot be decoded.
            flaw => match std::str::from_utf8(self.cursor.text()) {
                Ok(_) => flaw.map_or(Ok(()), Err),
                Err(error) => Err(Flaw { defect: Defect::Utf8, offset: error.valid_up_to() }),
            },
        }
    }
}

#[cfg(test)]
mod tests;
