//! Memory: one limit for all large messages in flight, since all of them share the memory of the
//! process.
//!
//! Small messages are not counted, so an ordinary call touches nothing here; connections and
//! queues limit their number.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Messages up to this size are not counted. Larger ones are counted in steps of this size.
const UNCOUNTED: usize = 64 * 1024;
/// After so many bytes were released, [`large_release`] returns.
const LARGE_RELEASE: usize = 16 * 1024 * 1024;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static RESERVED: AtomicUsize = AtomicUsize::new(0);
/// Bytes released since [`large_release`] returned.
static RELEASED: AtomicUsize = AtomicUsize::new(0);
static LARGE: Notify = Notify::const_new();

/// The messages in flight take all the memory that they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the messages in flight take all the memory that they may; try again later")]
pub struct OutOfMemory;

/// Memory of one message, which is released when this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: usize,
}

/// Sets the limit for all messages in flight. Without it there is none.
pub fn set_memory_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Bytes that are reserved now.
pub fn reserved_memory() -> usize {
    RESERVED.load(Ordering::Relaxed)
}

/// Waits until much memory was released since the last time.
pub async fn large_release() {
    LARGE.notified().await;
}

impl Reservation {
    /// Makes sure that so many bytes are reserved, or fails and leaves the reservation as it is.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        if bytes <= UNCOUNTED.max(self.bytes) {
            return Ok(());
        }
        let more = bytes.next_multiple_of(UNCOUNTED) - self.bytes;
        let before = RESERVED.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > LIMIT.load(Ordering::Relaxed) {
            RESERVED.fetch_sub(more, Ordering::Relaxed);
            return Err(OutOfMemory);
        }
        self.bytes += more;
        Ok(())
    }

    /// True if the message is too small to be counted.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        RESERVED.fetch_sub(self.bytes, Ordering::Relaxed);
        if RELEASED.fetch_add(self.bytes, Ordering::Relaxed) + self.bytes >= LARGE_RELEASE {
            RELEASED.store(0, Ordering::Relaxed);
            LARGE.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test that sets the limit, which all tests of this process share.
    #[test]
    fn l05_memory_is_refused_beyond_the_limit_and_can_be_used_again() {
        set_memory_limit(4 * UNCOUNTED);
        let mut small = Reservation::default();
        small.grow_to(UNCOUNTED).unwrap();
        assert!(small.is_empty());
        let (mut first, mut second) = (Reservation::default(), Reservation::default());
        first.grow_to(2 * UNCOUNTED + 1).unwrap();
        assert_eq!(reserved_memory(), 3 * UNCOUNTED);
        assert_eq!(second.grow_to(2 * UNCOUNTED), Err(OutOfMemory));
        assert_eq!(reserved_memory(), 3 * UNCOUNTED);
        first.grow_to(4 * UNCOUNTED).unwrap();
        drop(first);
        second.grow_to(4 * UNCOUNTED).unwrap();
        drop(second);
        assert_eq!(reserved_memory(), 0);
    }
}
