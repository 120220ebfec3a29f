//! An output stream of a program, read continuously so that the program never blocks on a full
//! pipe.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::Notify,
};

use crate::head_tail::{Captured, HeadTail, Keep};

/// The capacity of a pipe, so that one read empties it.
const CHUNK: usize = 64 * 1024;

/// A shared view of an output stream; may be read at any time.
#[derive(Debug, Clone)]
pub struct Stream {
    kept: Arc<Mutex<HeadTail>>,
    overflowed: Arc<Notify>,
}

impl Stream {
    /// A copy of what is kept so far.
    pub fn captured(&self) -> Captured {
        self.kept().captured()
    }

    /// The last `count` lines that are kept, oldest first.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let text = self.captured().tail_text();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].iter().map(ToString::to_string).collect()
    }

    pub(crate) fn new(keep: Keep) -> Self {
        Self { kept: Arc::new(Mutex::new(HeadTail::new(keep))), overflowed: Arc::default() }
    }

    /// Waits until bytes were dropped.
    pub(crate) async fn overflowed(&self) {
        self.overflowed.notified().await;
    }

    /// Reads `source` to its end.
    pub(crate) async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let dropped = {
                let mut kept = self.kept();
                kept.push(&chunk[..count]);
                kept.has_dropped()
            };
            if dropped {
                self.overflowed.notify_one();
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, HeadTail> {
        self.kept.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tail_is_bounded_and_starts_with_a_whole_line() {
        let stream = Stream::new(Keep::tail(16));
        stream.clone().drain(&b"first line\nsecond\nthird\n\xff"[..]).await;
        assert_eq!(stream.captured().tail_text(), "second\nthird\n\u{fffd}");
        assert_eq!(stream.last_lines(2), ["third", "\u{fffd}"]);
        assert_eq!(stream.captured().total, 25);
        assert!(stream.captured().tail.len() <= 16);
    }

    #[tokio::test]
    async fn a_line_longer_than_the_tail_keeps_its_end() {
        let stream = Stream::new(Keep::tail(4));
        stream.clone().drain(&b"0123456789"[..]).await;
        assert_eq!(stream.captured().tail_text(), "6789");
    }
}
