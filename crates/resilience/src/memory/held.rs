//! Messages whose memory is counted until their last slice is dropped.

use super::{OutOfMemory, Reservation, UNCOUNTED};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The address ranges of all counted messages, by their start. They tell if a slice shares memory
/// that is counted already. Only messages above [`UNCOUNTED`] lock it.
static COUNTED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// A message, and the memory that is reserved until its last slice is dropped.
struct Counted {
    message: Bytes,
    _memory: Reservation,
}

/// Counts the memory of a message as long as a slice of it exists. A message that is small, or
/// shares memory that is counted already, is returned as it is.
pub fn hold(message: Bytes) -> Result<Bytes, OutOfMemory> {
    hold_with(message, Reservation::default())
}

pub(super) fn hold_with(message: Bytes, mut memory: Reservation) -> Result<Bytes, OutOfMemory> {
    if message.len() <= UNCOUNTED || is_counted(&message) {
        return Ok(message);
    }
    memory.grow_to(message.len())?;
    Ok(hold_reserved(message, memory))
}

/// Keeps a reservation as long as a slice of the message exists.
pub fn hold_reserved(message: Bytes, memory: Reservation) -> Bytes {
    if memory.is_empty() {
        return message;
    }
    let start = start_of(&message);
    COUNTED.lock().insert(start, start + message.len());
    Bytes::from_owner(Counted { message, _memory: memory })
}

fn is_counted(message: &Bytes) -> bool {
    let start = start_of(message);
    let counted = COUNTED.lock();
    let nearest = counted.range(..=start).next_back();
    nearest.is_some_and(|(_, end)| start + message.len() <= *end)
}

fn start_of(message: &Bytes) -> usize {
    message.as_ptr().addr()
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Before the memory is freed, and may be used for another message.
        COUNTED.lock().remove(&start_of(&self.message));
    }
}
