//! Buffers that the connections of one thread share, so that an idle connection holds none.
//!
//! One thread-local for all of them. They save three allocations per request, the formatting of
//! a date, and 32 KiB per idle connection.

use super::date::CachedDate;
use ::http::HeaderMap;
use std::{cell::RefCell, task::Poll};
use tokio::io::ReadBuf;

/// Bytes read at once.
const READ_SIZE: usize = 32 * 1024;
/// Larger buffers are freed instead of being kept.
const MAX_OUTPUT: usize = 64 * 1024;
const MAX_HEADERS: usize = 64;

#[derive(Default)]
struct Scratch {
    headers: HeaderMap,
    output: Vec<u8>,
    read: Vec<u8>,
    date: CachedDate,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// An empty map.
pub(super) fn take_headers() -> HeaderMap {
    SCRATCH.with_borrow_mut(|scratch| std::mem::take(&mut scratch.headers))
}

/// Keeps the memory of a map for the next request.
pub(super) fn recycle_headers(mut headers: HeaderMap) {
    if (1..=MAX_HEADERS).contains(&headers.capacity()) {
        headers.clear();
        SCRATCH.with_borrow_mut(|scratch| scratch.headers = headers);
    }
}

/// An empty buffer.
pub(super) fn take_output() -> Vec<u8> {
    SCRATCH.with_borrow_mut(|scratch| std::mem::take(&mut scratch.output))
}

/// Keeps the memory of a buffer for the next response.
pub(super) fn recycle_output(mut output: Vec<u8>) {
    if (1..=MAX_OUTPUT).contains(&output.capacity()) {
        output.clear();
        SCRATCH.with_borrow_mut(|scratch| scratch.output = output);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recycled_buffer_is_empty_and_small() {
        recycle_output(b"secret".to_vec());
        assert!(take_output().is_empty());
        recycle_output(Vec::with_capacity(MAX_OUTPUT + 1));
        assert_eq!(take_output().capacity(), 0);
        let mut used = HeaderMap::new();
        used.insert("authorization", "secret".parse().unwrap());
        recycle_headers(used);
        let recycled = take_headers();
        assert!(recycled.is_empty() && recycled.capacity() > 0);
        recycle_headers(HeaderMap::with_capacity(4 * MAX_HEADERS));
        assert_eq!(take_headers().capacity(), 0);
    }
}
