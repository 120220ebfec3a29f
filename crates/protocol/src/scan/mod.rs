//! One pass over a frame: is it JSON within our bounds, and where do its parts lie.
//!
//! The grammar is RFC 8259's. Beyond it a frame may nest at most [`MAX_DEPTH`] levels and no object may name a member
//! twice, at any depth: two readers of such a frame could see two different messages. Time is linear in the frame (with a
//! logarithm for objects of many members) and memory is bounded by it; nothing recurses.

mod keys;
mod stack;
mod token;
mod walk;
mod word;

use crate::{Defect, Malformed, Raw, RequestId, malformed::Flaw};
use bytes::Bytes;
use keys::Keys;
use stack::Stack;
use std::{borrow::Cow, ops::Range};
use token::Cursor;
pub(crate) use walk::checked_members;
pub(crate) use word::plain_run;

/// Levels of nesting, the outermost value being the first.
pub const MAX_DEPTH: usize = 128;

/// What needs no allocation, enough for most frames.
const USUAL_DEPTH: usize = 8;
const USUAL_MEMBERS: usize = 8;

/// A member of an object: where its name (without quotes) and its value stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Member {
    pub(crate) key: (usize, usize),
    pub(crate) escaped: bool,
    pub(crate) value: (usize, usize),
}

/// The members of a message, in their order.
#[derive(Debug)]
pub(crate) struct Message(Stack<Member, USUAL_MEMBERS>);

impl Message {
    pub(crate) fn members(&self) -> &[Member] {
        self.0.as_slice()
    }
}

impl Member {
    /// The name; the scan has already refused one that stands for no text.
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

    /// The name as it stands in the text.
    #[inline]
    fn written<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.key.0..self.key.1]
    }

    #[inline]
    pub(crate) fn is(&self, name: &str, text: &[u8]) -> bool {
        if self.escaped { self.name(text) == name } else { self.written(text) == name.as_bytes() }
    }

    /// The value as it stands in the text.
    #[inline]
    pub(crate) fn text<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.value.0..self.value.1]
    }

    #[inline]
    pub(crate) fn value(&self, text: &Bytes) -> Raw {
        Raw::trusted(text.slice(self.value.0..self.value.1))
    }
}

/// Checks one whole document and gives the place of its value.
pub(crate) fn document(text: &[u8]) -> Result<Range<usize>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    let read = scanner.value(0);
    let range = scanner.end(read)?;
    Ok(range)
}

/// Checks one whole document; gives the members when it is an object, `None` when it is something else.
pub(crate) fn members(text: &[u8]) -> Result<Option<Message>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    if scanner.cursor.peek() != Some(b'{') {
        return Ok(None);
    }
    let mut message = Message(Stack::new());
    let read = scanner.object(&mut message);
    match scanner.end(read) {
        Ok(()) => Ok(Some(message)),
        Err(flaw) if flaw.defect == Defect::Utf8 => Err(flaw.into()),
        Err(flaw) => Err(Malformed::from(flaw).with_id(only_id(message.members(), text).as_ref())),
    }
}

/// The id among the members that were read before a defect, if there is just one.
fn only_id(members: &[Member], text: &[u8]) -> Option<RequestId> {
    let mut ids = members.iter().filter(|member| member.name(text) == "id");
    let (id, None) = (ids.next()?, ids.next()) else { return None };
    RequestId::read(Raw::trusted(Bytes::copy_from_slice(id.text(text)))).ok()
}

/// Checks one whole document; gives the elements when it is an array, at most `limit` of them.
pub(crate) fn elements(text: &[u8], limit: usize) -> Result<Vec<Range<usize>>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    let read = scanner.array(limit);
    let elements = scanner.end(read)?;
    Ok(elements)
}

/// The first byte that is not a blank.
pub(crate) fn first_byte(text: &[u8]) -> Option<u8> {
    text.iter().copied().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

struct Scanner<'a> {
    cursor: Cursor<'a>,
    keys: Keys,
    /// For each open container: `Some(first key)` for an object, `None` for an array.
    open: Stack<Option<usize>, USUAL_DEPTH>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8]) -> Result<Self, Flaw> {
        if u32::try_from(text.len()).is_err() {
            return Err(Flaw { defect: Defect::Size, offset: 0 });
        }
        Ok(Self { cursor: Cursor::new(text), keys: Keys::new(), open: Stack::new() })
    }

    /// Reads an object; what was read before a defect stays in `members`.
    fn object(&mut self, message: &mut Message) -> Result<(), Flaw> {
        self.cursor.expect(b'{', "expected an object")?;
        self.cursor.skip_blanks();
        if self.cursor.take(b'}') {
            return Ok(());
        }
        let first_key = self.keys.mark();
        loop {
            let key = self.key()?;
            self.cursor.skip_blanks();
            let value = self.value(1)?;
            message.0.push(Member {
                key: (key.start, key.end),
                escaped: key.escaped,
                value: (value.start, value.end),
            });
            self.cursor.skip_blanks();
            if !self.cursor.take(b',') {
                break;
            }
        }
        self.cursor.expect(b'}', "expected `,` or `}`")?;
        self.keys.close(first_key, self.cursor.text())
    }

    fn array(&mut self, limit: usize) -> Result<Vec<Range<usize>>, Flaw> {
        let mut elements = Vec::new();
        self.cursor.expect(b'[', "expected an array")?;
        self.cursor.skip_blanks();
        if self.cursor.take(b']') {
            return Ok(elements);
        }
        loop {
            self.cursor.skip_blanks();
            if elements.len() == limit {
                return Err(self.cursor.fail(Defect::LongBatch));
            }
            elements.push(self.value(1)?);
            self.cursor.skip_blanks();
            if !self.cursor.take(b',') {
                break;
            }
        }
        self.cursor.expect(b']', "expected `,` or `]`")?;
        Ok(elements)
    }

    /// Walks one value that stands below `above` levels, without recursion.
    fn value(&mut self, above: usize) -> Result<Range<usize>, Flaw> {
        let start = self.cursor.at();
        let floor = self.open.len();
        loop {
            self.cursor.skip_blanks();
            if self.begin(above)? {
                continue;
            }
            if !self.after_value(floor)? {
                return Ok(start..self.cursor.at());
            }
        }
    }

    /// Reads a scalar or an empty container whole (`false`), or enters a container (`true`).
    fn begin(&mut self, above: usize) -> Result<bool, Flaw> {
        match self.cursor.peek() {
            Some(b'{') => {
                self.enter(above)?;
                if self.cursor.take(b'}') {
                    return Ok(false);
                }
                self.open.push(Some(self.keys.mark()));
                self.key()?;
                Ok(true)
            }
            Some(b'[') => {
                self.enter(above)?;
                if self.cursor.take(b']') {
                    return Ok(false);
                }
                self.open.push(None);
                Ok(true)
            }
            _ => self.cursor.scalar().map(|()| false),
        }
    }

    fn enter(&mut self, above: usize) -> Result<(), Flaw> {
        if above + self.open.len() >= MAX_DEPTH {
            return Err(self.cursor.fail(Defect::Depth));
        }
        self.cursor.bump();
        self.cursor.skip_blanks();
        Ok(())
    }

    /// Closes what ends here; `true` when another value follows inside an open container.
    fn after_value(&mut self, floor: usize) -> Result<bool, Flaw> {
        while self.open.len() > floor {
            self.cursor.skip_blanks();
            let container = self.open.last().expect("the loop condition says one is open");
            if self.cursor.take(b',') {
                if container.is_some() {
                    self.key()?;
                }
                return Ok(true);
            }
            match container {
                Some(first_key) => {
                    self.cursor.expect(b'}', "expected `,` or `}`")?;
                    self.keys.close(first_key, self.cursor.text())?;
                }
                None => self.cursor.expect(b']', "expected `,` or `]`")?,
            }
            self.open.truncate(self.open.len() - 1);
        }
        Ok(false)
    }

    /// Reads a member name and its colon.
    fn key(&mut self) -> Result<keys::Key, Flaw> {
        self.cursor.skip_blanks();
        let key = self.cursor.key()?;
        self.cursor.skip_blanks();
        self.cursor.expect(b':', "expected `:` after a member name")?;
        self.keys.push(key);
        Ok(key)
    }

    /// What was read, when nothing follows it and all of it is UTF-8.
    fn end<T>(&mut self, read: Result<T, Flaw>) -> Result<T, Flaw> {
        self.cursor.skip_blanks();
        let read = match self.cursor.peek() {
            Some(_) if read.is_ok() => Err(self.cursor.fail(Defect::Json("something follows the value"))),
            _ => read,
        };
        if read.is_err() || self.cursor.has_high() { self.encoded(read) } else { read }
    }

    /// A broken encoding is told before all else that is wrong with a text, because nobody knows what it says.
    #[cold]
    fn encoded<T>(&self, read: Result<T, Flaw>) -> Result<T, Flaw> {
        match std::str::from_utf8(self.cursor.text()) {
            Ok(_) => read,
            Err(error) => Err(Flaw { defect: Defect::Utf8, offset: error.valid_up_to() }),
        }
    }
}

#[cfg(test)]
mod tests;
