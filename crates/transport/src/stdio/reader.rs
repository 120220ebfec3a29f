//! Incremental reader of newline-delimited frames with bounded memory.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use trunkline_resilience::{Reservation, hold_reserved};

/// Default size limit of a line.
pub const DEFAULT_LINE_LIMIT: usize = 16 * 1024 * 1024;

/// Bytes kept of the beginning of a too long line, so that its `id` can be found.
pub const TOO_LONG_HEAD: usize = 1024;

/// The capacity of a pipe, so that one read can empty it.
const CHUNK: usize = 64 * 1024;

/// Least free space for a read; a smaller read would not be worth its system call.
const LEAST_ROOM: usize = 8 * 1024;

/// After a line above this size the buffer is freed instead of reused.
const SHRINK_ABOVE: usize = 4 * CHUNK;

/// One line of the peer. Blank lines are not reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line whose first non-blank byte opens a JSON object or array; nothing more is checked.
    Frame(Bytes),
    /// A line that cannot be a message: a banner, a log line, a BOM. The caller should count,
    /// report and skip it.
    Noise(Bytes),
    /// A line longer than the limit. Reported as soon as that is known, since the line may never
    /// end; its rest is discarded silently, and the line after it is read as usual.
    TooLong {
        limit: usize,
        /// The first [`TOO_LONG_HEAD`] bytes of the line, or `limit` if that is less.
        head: Bytes,
    },
    /// A line for which no memory is left. Its rest is discarded like that of a too long one.
    OutOfMemory {
        /// The first [`TOO_LONG_HEAD`] bytes of the line.
        head: Bytes,
    },
}

/// Splits a byte stream into lines.
///
/// Frames are slices of the read buffer, not copies: a small frame that is kept for long keeps up
/// to 64 KiB in memory. `\r\n` counts as `\n`. The text between the last newline and EOF is
/// returned as a last line, because some servers exit without a final newline; a truncated
/// fragment then fails to parse like any other bad frame.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: R,
    buffer: BytesMut,
    /// Bytes at the front of `buffer` that are known to contain no newline.
    scanned: usize,
    limit: usize,
    discarding: bool,
    discarded: u64,
    ended: bool,
    /// The memory of the buffer, if it is large.
    memory: Reservation,
}

impl Line {
    /// Keeps the reservation as long as the message.
    fn counted(self, memory: Reservation) -> Self {
        match self {
            Self::Frame(frame) => Self::Frame(hold_reserved(frame, memory)),
            other => other,
        }
    }
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// A reader with [`DEFAULT_LINE_LIMIT`].
    pub fn new(source: R) -> Self {
        Self::with_limit(source, DEFAULT_LINE_LIMIT)
    }

    /// A reader of lines of up to `limit` bytes, not counting the newline.
    pub fn with_limit(source: R, limit: usize) -> Self {
        Self {
            source,
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            discarding: false,
            discarded: 0,
            ended: false,
            memory: Reservation::default(),
        }
    }

    /// The next line; `None` at EOF.
    ///
    /// Cancel safe: a dropped call loses nothing. After an error the stream counts as ended.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.next_buffered() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(self.last());
            }
            self.make_room();
            match self.source.read_buf(&mut self.buffer).await {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) => {
                    self.ended = true;
                    self.buffer = BytesMut::new();
                    self.scanned = 0;
                    return Err(error);
                }
            }
        }
    }

    /// The next line if it has been read already; never waits.
    pub fn next_buffered(&mut self) -> Option<Line> {
        loop {
            let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) else {
                return self.without_newline();
            };
            let end = self.scanned + at;
            self.scanned = 0;
            if self.discarding {
                self.discarding = false;
                self.discarded += end as u64;
                self.buffer.advance(end + 1);
                continue;
            }
            let mut line = self.buffer.split_to(end + 1);
            line.truncate(end);
            self.give_back_after(end);
            let memory = std::mem::take(&mut self.memory);
            if let Some(line) = self.classify(line) {
                return Some(line.counted(memory));
            }
        }
    }

    /// Bytes of too long lines that were discarded so far.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    fn without_newline(&mut self) -> Option<Line> {
        self.scanned = self.buffer.len();
        if self.discarding {
            self.discarded += self.buffer.len() as u64;
            self.buffer.clear();
            self.scanned = 0;
            return None;
        }
        // One byte more than the limit may still be the `\r` of a line that fits.
        let fits = self.buffer.len() <= self.limit.saturating_add(1);
        if fits && self.memory.grow_to(self.buffer.capacity()).is_ok() {
            return None;
        }
        let head = self.head_of(&self.buffer);
        self.discarding = true;
        self.discarded += self.buffer.len() as u64;
        self.buffer = BytesMut::new();
        self.memory = Reservation::default();
        self.scanned = 0;
        Some(if fits { Line::OutOfMemory { head } } else { Line::TooLong { limit: self.limit, head } })
    }

    fn last(&mut self) -> Option<Line> {
        self.scanned = 0;
        let rest = std::mem::take(&mut self.buffer);
        self.classify(rest)
    }

    fn classify(&mut self, mut line: BytesMut) -> Option<Line> {
        let length = line.len();
        if line.last() == Some(&b'\r') {
            line.truncate(length - 1);
        }
        if line.len() > self.limit {
            self.discarded += length as u64;
            return Some(Line::TooLong { limit: self.limit, head: self.head_of(&line) });
        }
        let first = line.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))?;
        match first {
            b'{' | b'[' => Some(Line::Frame(line.freeze())),
            _ => Some(Line::Noise(line.freeze())),
        }
    }

    fn head_of(&self, line: &[u8]) -> Bytes {
        Bytes::copy_from_slice(&line[..TOO_LONG_HEAD.min(self.limit).min(line.len())])
    }

    fn make_room(&mut self) {
        if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
            self.buffer.reserve(CHUNK);
        }
    }

    /// Moves the bytes after a large line, at most one read, to a new buffer, so that the large
    /// allocation is freed with the frame.
    fn give_back_after(&mut self, length: usize) {
        if length > SHRINK_ABOVE {
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_goes_back_after_a_large_line() {
        let mut input = vec![b'{'; 4 << 20];
        input.extend_from_slice(b"\n{}\n");
        let mut reader = FrameReader::new(input.as_slice());
        assert!(matches!(reader.next().await, Ok(Some(Line::Frame(line))) if line.len() == 4 << 20));
        assert!(matches!(reader.next().await, Ok(Some(Line::Frame(line))) if line == "{}"));
        assert!(reader.next().await.is_ok_and(|line| line.is_none()));
        assert!(reader.buffer.capacity() <= 2 * CHUNK, "{}", reader.buffer.capacity());
    }

    #[tokio::test]
    async fn a_long_line_is_discarded_in_bounded_memory() {
        let limit = 1 << 20;
        let endless = tokio::io::repeat(b'x').take(100 << 20);
        let mut reader = FrameReader::with_limit(endless.chain(&b"\n{\"next\":1}\n"[..]), limit);
        let line = reader.next().await.unwrap();
        assert!(matches!(line, Some(Line::TooLong { limit: l, head }) if l == limit && head.len() == 1024));
        let line = reader.next().await.unwrap();
        assert_eq!(line, Some(Line::Frame(Bytes::from_static(b"{\"next\":1}"))));
        assert_eq!(reader.discarded(), 100 << 20);
        assert!(reader.buffer.capacity() <= 2 * CHUNK, "{}", reader.buffer.capacity());
    }
}
