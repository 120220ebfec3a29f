//! Bytes to events, incrementally and with bounded memory.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

use trunkline_resilience::{OutOfMemory, Reservation, hold_reserved};

use super::{Event, Line};

/// Default size limit of an event and of a line.
pub const DEFAULT_EVENT_LIMIT: usize = 16 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The reason why the stream cannot be read further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// An event or line exceeds the limit.
    #[error("an event of the stream is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Decodes an event stream chunk by chunk: [`push`](Self::push) a chunk, then call
/// [`next`](Self::next) until it returns `None`. A line within one chunk is not copied; a line
/// that spans chunks is copied once.
///
/// An event that is not closed by an empty line at the end of the stream is discarded.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The unread rest of the last chunk.
    chunk: Bytes,
    /// A line whose end has not been seen yet, from earlier chunks.
    partial: BytesMut,
    /// A carriage return ended the last line; a line feed right after it belongs to it.
    after_return: bool,
    first_line: bool,
    block: Block,
    failed: Option<EventError>,
    memory: Reservation,
}

/// The fields seen since the last empty line.
#[derive(Debug, Default)]
struct Block {
    data: Data,
    id: Option<Line>,
    event: Option<Line>,
    retry: Option<Duration>,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Joined(BytesMut),
}

impl Decoder {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            after_return: false,
            first_line: true,
            block: Block::default(),
            failed: None,
            memory: Reservation::default(),
        }
    }

    /// Adds the next bytes of the stream after those that are still unread.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            let mut joined = BytesMut::with_capacity(self.chunk.len() + chunk.len());
            joined.extend_from_slice(&self.chunk);
            joined.extend_from_slice(&chunk);
            self.chunk = joined.freeze();
        }
    }

    /// The next complete event; `None` until more bytes are pushed.
    #[expect(clippy::should_implement_trait, reason = "none means not yet, and an iterator ends at none")]
    pub fn next(&mut self) -> Result<Option<Event>, EventError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let next = self.advance();
        if let Err(error) = next {
            self.failed = Some(error);
            self.partial = BytesMut::new();
            self.block = Block::default();
            self.memory = Reservation::default();
        }
        next
    }

    fn advance(&mut self) -> Result<Option<Event>, EventError> {
        while let Some(line) = self.line()? {
            if !line.is_empty() {
                self.block.field(line);
                if self.block.size() > self.limit {
                    return Err(EventError::TooLarge { limit: self.limit });
                }
                self.reserve()?;
            } else if let Some(mut event) = self.block.take() {
                event.data = hold_reserved(event.data, std::mem::take(&mut self.memory));
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn reserve(&mut self) -> Result<(), EventError> {
        Ok(self.memory.grow_to(self.partial.capacity() + self.block.size())?)
    }

    fn line(&mut self) -> Result<Option<Bytes>, EventError> {
        if self.after_return && !self.chunk.is_empty() {
            self.after_return = false;
            if self.chunk[0] == b'\n' {
                self.chunk.advance(1);
            }
        }
        let end = memchr::memchr2(b'\r', b'\n', &self.chunk);
        let rest = end.unwrap_or(self.chunk.len());
        if self.partial.len() + rest > self.limit {
            return Err(EventError::TooLarge { limit: self.limit });
        }
        let Some(end) = end else {
            self.partial.extend_from_slice(&self.chunk);
            self.chunk = Bytes::new();
            self.reserve()?;
            return Ok(None);
        };
        self.after_return = self.chunk[end] == b'\r';
        let mut line = self.chunk.split_to(end);
        self.chunk.advance(1);
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(&line);
            line = self.partial.split().freeze();
        }
        if std::mem::take(&mut self.first_line) && line.starts_with(BYTE_ORDER_MARK) {
            line.advance(BYTE_ORDER_MARK.len());
        }
        Ok(Some(line))
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

impl Block {
    fn field(&mut self, mut line: Bytes) {
        let colon = memchr::memchr(b':', &line);
        let name = line.split_to(colon.unwrap_or(line.len()));
        if colon.is_some() {
            line.advance(1);
            if line.first() == Some(&b' ') {
                line.advance(1);
            }
        }
        match &name[..] {
            b"data" => self.data.add(line),
            b"event" => self.event = Some(Line::copied(&line)),
            b"id" if memchr::memchr(0, &line).is_none() => self.id = Some(Line::copied(&line)),
            b"retry" => self.retry = milliseconds(&line).or(self.retry),
            // Comments, which have an empty name, and unknown fields.
            _ => {}
        }
    }

    fn size(&self) -> usize {
        let data = match &self.data {
            Data::None => 0,
            Data::One(data) => data.len(),
            Data::Joined(data) => data.len(),
        };
        data + self.id.as_ref().map_or(0, Line::len) + self.event.as_ref().map_or(0, Line::len)
    }

    fn take(&mut self) -> Option<Event> {
        let block = std::mem::take(self);
        let data = match block.data {
            Data::None if block.id.is_none() && block.retry.is_none() => return None,
            Data::None => Bytes::new(),
            Data::One(data) => data,
            Data::Joined(data) => data.freeze(),
        };
        Some(Event { id: block.id, event: block.event, data, retry: block.retry })
    }
}

impl Data {
    fn add(&mut self, line: Bytes) {
        match self {
            Self::None => *self = Self::One(line),
            Self::One(first) => {
                let mut joined = BytesMut::with_capacity(first.len() + 1 + line.len());
                joined.extend_from_slice(first);
                *self = Self::Joined(joined);
                self.add(line);
            }
            Self::Joined(joined) => {
                joined.extend_from_slice(b"\n");
                joined.extend_from_slice(&line);
            }
        }
    }
}

/// The delay of a `retry` field: ASCII digits only, as the format requires.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = digits.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()?;
    Some(Duration::from_millis(number))
}
