//! What the connections of one thread share: the buffer to read into, so that an idle connection
//! holds none (32 KiB each), and the formatted date.

use super::date::CachedDate;
use std::{cell::RefCell, task::Poll};
use tokio::io::ReadBuf;

/// Bytes read at once.
const READ_SIZE: usize = 32 * 1024;

#[derive(Default)]
struct Scratch {
    read: Vec<u8>,
    date: CachedDate,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Appends the `Date` header.
pub(super) fn write_date(out: &mut Vec<u8>) {
    SCRATCH.with_borrow_mut(|scratch| scratch.date.write(out));
}

/// Reads into the buffer of this thread; `consume` gets the bytes read.
pub(super) fn read<T, E>(
    poll: impl FnOnce(&mut ReadBuf<'_>) -> Poll<Result<(), E>>,
    consume: impl FnOnce(&[u8]) -> T,
) -> Poll<Result<T, E>> {
    // Taken out, so that nothing is borrowed while code of the stream runs.
    let mut buffer = SCRATCH.with_borrow_mut(|scratch| std::mem::take(&mut scratch.read));
    buffer.resize(READ_SIZE, 0);
    let mut room = ReadBuf::new(&mut buffer);
    let read = poll(&mut room).map_ok(|()| consume(room.filled()));
    SCRATCH.with_borrow_mut(|scratch| scratch.read = buffer);
    read
}
