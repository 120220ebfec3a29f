//! The end of what a child wrote to stderr, readable at any time.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::broadcast,
};

/// Bytes of stderr that are kept, unless the caller says otherwise.
pub const DEFAULT_STDERR_TAIL: usize = 64 * 1024;

/// Longest live line; what is longer comes in pieces of this size.
pub const STDERR_LINE_LIMIT: usize = 8 * 1024;

/// Live lines that wait for a slow listener before the oldest are dropped.
pub const STDERR_LIVE_LINES: usize = 256;

/// One read empties a full pipe.
const CHUNK: usize = 64 * 1024;

/// A shared view of the last bytes of a child's stderr. All of it is read and counted, so the child never
/// waits for us; only the tail is kept.
#[derive(Clone)]
pub struct StderrTail {
    inner: Arc<Inner>,
}

struct Inner {
    ring: Mutex<Ring>,
    live: broadcast::Sender<Arc<str>>,
}

struct Ring {
    bytes: VecDeque<u8>,
    capacity: usize,
    total: u64,
}

impl StderrTail {
    /// The kept text. If something before it was dropped, it starts with a whole line.
    pub fn text(&self) -> String {
        let ring = self.ring();
        let (front, back) = ring.bytes.as_slices();
        let bytes = [front, back].concat();
        let cut = ring.total > bytes.len() as u64;
        drop(ring);
        let start = match memchr::memchr(b'\n', &bytes) {
            Some(at) if cut && at + 1 < bytes.len() => at + 1,
            _ => 0,
        };
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    /// The last `count` lines that are kept, oldest first.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let text = self.text();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].iter().map(ToString::to_string).collect()
    }

    /// Bytes written in all, dropped ones included.
    pub fn total(&self) -> u64 {
        self.ring().total
    }

    /// Lines as they come from now on. A listener that falls behind by [`STDERR_LIVE_LINES`] misses some, and is
    /// told how many.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<str>> {
        self.inner.live.subscribe()
    }

    pub(super) fn new(capacity: usize) -> Self {
        let ring = Ring { bytes: VecDeque::new(), capacity, total: 0 };
        let (live, _) = broadcast::channel(STDERR_LIVE_LINES);
        Self { inner: Arc::new(Inner { ring: Mutex::new(ring), live }) }
    }

    /// Reads `source` to its end.
    pub(super) async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK];
        let mut partial = Vec::new();
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            self.ring().push(&chunk[..count]);
            self.publish(&mut partial, &chunk[..count]);
        }
        if !partial.is_empty() {
            self.publish(&mut partial, b"\n");
        }
    }

    fn publish(&self, partial: &mut Vec<u8>, bytes: &[u8]) {
        if self.inner.live.receiver_count() == 0 {
            partial.clear();
            return;
        }
        for piece in
            bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(STDERR_LINE_LIMIT))
        {
            partial.extend_from_slice(piece);
            if partial.ends_with(b"\n") || partial.len() >= STDERR_LINE_LIMIT {
                let line = String::from_utf8_lossy(partial.trim_ascii_end());
                // Nobody listening any more is no error.
                self.inner.live.send(line.into()).ok();
                partial.clear();
            }
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.inner.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.capacity)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.capacity);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrTail").field("total", &self.total()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tail_is_bounded_and_starts_with_a_whole_line() {
        let tail = StderrTail::new(16);
        tail.clone().drain(&b"first line\nsecond\nthird\n\xff"[..]).await;
        assert_eq!(tail.text(), "second\nthird\n\u{fffd}");
        assert_eq!(tail.last_lines(2), ["third", "\u{fffd}"]);
        assert_eq!(tail.total(), 25);
        assert!(tail.ring().bytes.len() <= 16);
    }

    #[tokio::test]
    async fn a_line_longer_than_the_tail_keeps_its_end() {
        let tail = StderrTail::new(4);
        tail.clone().drain(&b"0123456789"[..]).await;
        assert_eq!(tail.text(), "6789");
    }

    #[tokio::test]
    async fn live_lines_are_cut_to_the_limit() {
        let tail = StderrTail::new(4);
        let mut lines = tail.subscribe();
        let mut input = b"one\r\n".to_vec();
        input.extend(vec![b'x'; STDERR_LINE_LIMIT + 1]);
        tail.clone().drain(input.as_slice()).await;
        assert_eq!(&*lines.recv().await.unwrap(), "one");
        assert_eq!(lines.recv().await.unwrap().len(), STDERR_LINE_LIMIT);
        assert_eq!(&*lines.recv().await.unwrap(), "x");
    }

    #[tokio::test]
    async fn a_slow_listener_misses_lines_instead_of_holding_memory() {
        let tail = StderrTail::new(4);
        let mut lines = tail.subscribe();
        tail.clone().drain(b"x\n".repeat(STDERR_LIVE_LINES + 10).as_slice()).await;
        assert!(matches!(lines.recv().await, Err(broadcast::error::RecvError::Lagged(10))));
    }
}
