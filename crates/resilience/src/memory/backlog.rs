//! Messages that are kept in one place: queued for a peer, or for replay.

use super::{OutOfMemory, Purpose, Reservation, UNCOUNTED, held::hold_with};
use bytes::Bytes;
use parking_lot::Mutex;

/// Counts the messages of one queue or buffer: the small ones together, each large one by itself
/// until its last slice is dropped.
#[derive(Debug)]
pub struct Backlog {
    purpose: Purpose,
    small: Mutex<Small>,
}

#[derive(Debug)]
struct Small {
    bytes: usize,
    memory: Reservation,
}

impl Backlog {
    pub fn new(purpose: Purpose) -> Self {
        Self { purpose, small: Mutex::new(Small { bytes: 0, memory: Reservation::of(purpose) }) }
    }

    /// Counts a message that is added.
    pub fn hold(&self, message: Bytes) -> Result<Bytes, OutOfMemory> {
        if message.len() > UNCOUNTED {
            return hold_with(message, Reservation::of(self.purpose));
        }
        let mut small = self.small.lock();
        let bytes = small.bytes + message.len();
        small.memory.grow_to(bytes)?;
        small.bytes = bytes;
        Ok(message)
    }

    /// Counts a message as removed. A large one is still counted while it is being sent. The short
    /// error in place of a message that was not held may be released, too.
    pub fn release(&self, message: &Bytes) {
        if message.len() <= UNCOUNTED {
            let mut small = self.small.lock();
            small.bytes = small.bytes.saturating_sub(message.len());
            let bytes = small.bytes;
            small.memory.shrink_to(bytes);
        }
    }
}
