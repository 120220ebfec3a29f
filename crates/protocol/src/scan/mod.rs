//! One pass over a frame: is it JSON within our bounds, and where do its parts lie.
//!
//! The grammar is RFC 8259's. Beyond it a frame may nest at most [`MAX_DEPTH`] levels and no object may name a member
//! twice, at any depth: two readers of such a frame could see two different messages. Time is linear in the frame (with a
//! logarithm for objects of many members) and memory is bounded by it; nothing recurses.

mod keys;
mod token;
mod walk;

use crate::{Defect, Malformed, Raw, RequestId, malformed::Flaw};
use bytes::Bytes;
use keys::Keys;
use std::{borrow::Cow, ops::Range};
use token::Cursor;
pub(crate) use token::plain_run;
pub(crate) use walk::checked_members;

/// Levels of nesting, the outermost value being the first.
pub const MAX_DEPTH: usize = 128;

/// Room that is made at once, enough for most frames.
const USUAL_DEPTH: usize = 8;
const USUAL_MEMBERS: usize = 8;

/// A member of an object: where its name (without quotes) and its value stand.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) key: Range<usize>,
    pub(crate) escaped: bool,
    pub(crate) value: Range<usize>,
}

impl Member {
    /// The name; the scan has already refused one that stands for no text.
    pub(crate) fn name<'a>(&self, text: &'a [u8]) -> Cow<'a, str> {
        let name = self.written(text);
        if self.escaped {
            Cow::Owned(keys::unescape(name).unwrap_or_default())
        } else {
            Cow::Borrowed(std::str::from_utf8(name).unwrap_or_default())
        }
    }

    /// The name as it stands in the text.
    fn written<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.key.clone()]
    }

    pub(crate) fn is(&self, name: &str, text: &[u8]) -> bool {
        if self.escaped { self.name(text) == name } else { self.written(text) == name.as_bytes() }
    }

    /// The value as it stands in the text.
    pub(crate) fn text<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.value.clone()]
    }

    pub(crate) fn value(&self, text: &Bytes) -> Raw {
        Raw::trusted(text.slice(self.value.clone()))
    }
}

/// Checks one whole document and gives the place of its value.
pub(crate) fn document(text: &[u8]) -> Result<Range<usize>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    let range = scanner.value(0)?;
    scanner.end()?;
    Ok(range)
}

/// Checks one whole document; gives the members when it is an object, `None` when it is something else.
pub(crate) fn members(text: &[u8]) -> Result<Option<Vec<Member>>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    if scanner.cursor.peek() != Some(b'{') {
        return Ok(None);
    }
    let mut members = Vec::with_capacity(USUAL_MEMBERS);
    match scanner.object(&mut members).and_then(|()| scanner.end()) {
        Ok(()) => Ok(Some(members)),
        Err(flaw) => Err(Malformed::from(flaw).with_id(only_id(&members, text).as_ref())),
    }
}

/// The id among the members that were read before a defect, if there is just one.
fn only_id(members: &[Member], text: &[u8]) -> Option<RequestId> {
    let mut ids = members.iter().filter(|member| member.name(text) == "id");
    let (id, None) = (ids.next()?, ids.next()) else { return None };
    RequestId::read(Raw::trusted(Bytes::copy_from_slice(&text[id.value.clone()]))).ok()
}

/// Checks one whole document; gives the elements when it is an array, at most `limit` of them.
pub(crate) fn elements(text: &[u8], limit: usize) -> Result<Vec<Range<usize>>, Malformed> {
    let mut scanner = Scanner::new(text)?;
    scanner.cursor.skip_blanks();
    let elements = scanner.array(limit)?;
    scanner.end()?;
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
    open: Vec<Option<usize>>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8]) -> Result<Self, Flaw> {
        if u32::try_from(text.len()).is_err() {
            return Err(Flaw { defect: Defect::Size, offset: 0 });
        }
        if let Err(e) = std::str::from_utf8(text) {
            return Err(Flaw { defect: Defect::Utf8, offset: e.valid_up_to() });
        }
        Ok(Self { cursor: Cursor::new(text), keys: Keys::new(), open: Vec::with_capacity(USUAL_DEPTH) })
    }

    /// Reads an object; what was read before a defect stays in `members`.
    fn object(&mut self, members: &mut Vec<Member>) -> Result<(), Flaw> {
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
            members.push(Member { key: key.start..key.end, escaped: key.escaped, value });
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
            let container = *self.open.last().expect("the loop condition says one is open");
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
            self.open.pop();
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

    fn end(&mut self) -> Result<(), Flaw> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => Err(self.cursor.fail(Defect::Json("something follows the value"))),
        }
    }
}

#[cfg(test)]
mod tests;
