//! Memory that a thread lends to the connections it serves, so that those that are idle hold none.

use ::http::HeaderMap;
use std::{
    cell::{Cell, RefCell},
    task::Poll,
};
use tokio::io::ReadBuf;

/// How much is read at once.
const READ: usize = 32 * 1024;
/// Larger ones are not kept.
const TEXT_LIMIT: usize = 64 * 1024;
const FIELDS_LIMIT: usize = 64;

thread_local! {
    static FIELDS: Cell<Option<HeaderMap>> = const { Cell::new(None) };
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static READING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// An empty map.
pub(super) fn fields() -> HeaderMap {
    FIELDS.take().unwrap_or_default()
}

/// Takes back a map that is no longer needed.
pub(super) fn keep_fields(mut fields: HeaderMap) {
    if (1..=FIELDS_LIMIT).contains(&fields.capacity()) {
        fields.clear();
        FIELDS.set(Some(fields));
    }
}

/// An empty text.
pub(super) fn text() -> Vec<u8> {
    TEXT.take()
}

/// Takes back a text that is no longer needed.
pub(super) fn keep_text(mut text: Vec<u8>) {
    if (1..=TEXT_LIMIT).contains(&text.capacity()) {
        text.clear();
        TEXT.set(text);
    }
}

/// Reads into room of this thread; `take` gets what came.
pub(super) fn read<T, E>(
    poll: impl FnOnce(&mut ReadBuf<'_>) -> Poll<Result<(), E>>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<Result<T, E>> {
    READING.with_borrow_mut(|room| {
        room.resize(READ, 0);
        let mut room = ReadBuf::new(room);
        poll(&mut room).map_ok(|()| take(room.filled()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_is_empty_and_of_no_great_size() {
        keep_text(b"secret".to_vec());
        assert!(text().is_empty());
        keep_text(Vec::with_capacity(TEXT_LIMIT + 1));
        assert_eq!(text().capacity(), 0);
        let mut used = HeaderMap::new();
        used.insert("authorization", "secret".parse().unwrap());
        keep_fields(used);
        let lent = fields();
        assert!(lent.is_empty() && lent.capacity() > 0);
        keep_fields(HeaderMap::with_capacity(4 * FIELDS_LIMIT));
        assert_eq!(fields().capacity(), 0);
    }
}
