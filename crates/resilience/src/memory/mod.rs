//! Memory: one limit for all messages in flight, since all of them share the memory of the process.
//!
//! A large message is counted from the moment it is received or written until its last slice is
//! dropped ([`hold`]). A small one is counted only where many are kept: in a queue for one peer, or
//! for replay ([`Backlog`]). So an ordinary call touches no shared counter.

mod backlog;
mod held;

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

pub use backlog::Backlog;
pub use held::{hold, hold_reserved};

/// Messages up to this size are not counted one by one. Memory is counted in steps of this size.
const UNCOUNTED: usize = 64 * 1024;
/// After so many bytes were released, [`large_release`] returns.
const LARGE_RELEASE: usize = 16 * 1024 * 1024;
/// Messages that are kept for replay take at most this part of the memory, so that clients that
/// do not fetch them leave the rest for calls.
const REPLAY_PART: usize = 2;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static RESERVED: AtomicUsize = AtomicUsize::new(0);
/// The bytes of `RESERVED` that are kept for replay.
static REPLAY: AtomicUsize = AtomicUsize::new(0);
/// Bytes released since [`large_release`] returned.
static RELEASED: AtomicUsize = AtomicUsize::new(0);
static LARGE: Notify = Notify::const_new();

/// The messages in flight take all the memory that they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the messages in flight take all the memory that they may; try again later")]
pub struct OutOfMemory;

/// The purpose of reserved memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// A message on its way.
    #[default]
    Message,
    /// A message that is kept for a client that may ask for it again.
    Replay,
}

/// Memory of messages, which is released when this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: usize,
    purpose: Purpose,
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
    pub(crate) fn of(purpose: Purpose) -> Self {
        Self { bytes: 0, purpose }
    }

    /// Makes sure that so many bytes are reserved, or fails and leaves the reservation as it is.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        if bytes <= UNCOUNTED.max(self.bytes) {
            return Ok(());
        }
        let more = bytes.next_multiple_of(UNCOUNTED) - self.bytes;
        let limit = LIMIT.load(Ordering::Relaxed);
        if self.purpose == Purpose::Replay {
            add(&REPLAY, more, limit / REPLAY_PART)?;
        }
        if let Err(full) = add(&RESERVED, more, limit) {
            self.subtract_replay(more);
            return Err(full);
        }
        self.bytes += more;
        Ok(())
    }

    /// Releases the memory beyond so many bytes, but for one step, so that a queue of about the
    /// same size does not reserve and release all the time.
    pub fn shrink_to(&mut self, bytes: usize) {
        let kept = if bytes == 0 { 0 } else { bytes.next_multiple_of(UNCOUNTED) + UNCOUNTED };
        if kept < self.bytes {
            self.release(self.bytes - kept);
        }
    }

    /// True if the message is too small to be counted.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn release(&mut self, less: usize) {
        self.bytes -= less;
        self.subtract_replay(less);
        RESERVED.fetch_sub(less, Ordering::Relaxed);
        if RELEASED.fetch_add(less, Ordering::Relaxed) + less >= LARGE_RELEASE {
            RELEASED.store(0, Ordering::Relaxed);
            LARGE.notify_one();
        }
    }

    fn subtract_replay(&self, less: usize) {
        if self.purpose == Purpose::Replay {
            REPLAY.fetch_sub(less, Ordering::Relaxed);
        }
    }
}

fn add(counter: &AtomicUsize, more: usize, limit: usize) -> Result<(), OutOfMemory> {
    let before = counter.fetch_add(more, Ordering::Relaxed);
    if before.saturating_add(more) <= limit {
        return Ok(());
    }
    counter.fetch_sub(more, Ordering::Relaxed);
    Err(OutOfMemory)
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.release(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

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
        a_message_is_counted_once_until_its_last_slice_is_dropped();
        many_small_messages_of_one_queue_are_counted();
        replay_leaves_a_part_for_messages();
    }

    fn a_message_is_counted_once_until_its_last_slice_is_dropped() {
        let held = hold(Bytes::from(vec![b'x'; 2 * UNCOUNTED])).unwrap();
        let slice = hold(held.slice(1..2 * UNCOUNTED - 1)).unwrap();
        assert_eq!(reserved_memory(), 2 * UNCOUNTED);
        assert_eq!(hold(Bytes::from(vec![b'x'; 3 * UNCOUNTED])), Err(OutOfMemory));
        drop(held);
        assert_eq!(reserved_memory(), 2 * UNCOUNTED);
        drop(slice);
        assert_eq!(reserved_memory(), 0);
    }

    fn many_small_messages_of_one_queue_are_counted() {
        let queue = Backlog::new(Purpose::Message);
        let half = Bytes::from(vec![b'x'; UNCOUNTED / 2]);
        for _ in 0..8 {
            queue.hold(half.clone()).unwrap();
        }
        assert_eq!(reserved_memory(), 4 * UNCOUNTED);
        assert_eq!(queue.hold(half.clone()), Err(OutOfMemory));
        for _ in 0..4 {
            queue.release(&half);
        }
        assert_eq!(reserved_memory(), 3 * UNCOUNTED);
        drop(queue);
        assert_eq!(reserved_memory(), 0);
    }

    fn replay_leaves_a_part_for_messages() {
        let replay = Backlog::new(Purpose::Replay);
        let large = || Bytes::from(vec![b'x'; 2 * UNCOUNTED]);
        let kept = replay.hold(large()).unwrap();
        assert_eq!(replay.hold(large()), Err(OutOfMemory));
        drop(hold(large()).unwrap());
        drop(kept);
        drop(replay.hold(large()).unwrap());
        assert_eq!(reserved_memory(), 0);
    }
}
