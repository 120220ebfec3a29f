//! The event-stream format (WHATWG HTML, "Server-sent events"): one decoder, one encoder, both on bytes.
//!
//! An [`Event`] holds what one block of the stream itself carried. A browser drops a block without `data`; here a
//! block is an event as soon as it carries `data`, `id` or `retry`, because servers prime a resumable stream with an
//! id (and a delay) alone. Whoever wants messages skips the events whose data is empty. A block with nothing but
//! `event` or comments is no event.

mod decoder;
mod encode;
mod line;

use std::time::Duration;

use bytes::Bytes;

pub use decoder::{DEFAULT_EVENT_LIMIT, Decoder, EventTooLarge};
pub use encode::{KEEP_ALIVE, encode};
pub use line::{Line, NotALine};

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The `id` of this very event. An empty one tells the reader to forget the id it remembered.
    pub id: Option<Line>,
    /// The event's name; without one it is a `message`.
    pub event: Option<Line>,
    /// The `data` lines, joined by line feeds.
    pub data: Bytes,
    /// How long the server wants a reader to wait before it reconnects.
    pub retry: Option<Duration>,
}

impl Event {
    /// An event of the default name that carries only `data`.
    pub fn message(data: Bytes) -> Self {
        Self { data, ..Self::default() }
    }

    /// Whether the event goes by the name `name`; an event without name, or with an empty one, is a `message`.
    pub fn is(&self, name: &str) -> bool {
        let own = self.event.as_ref().map_or(&b""[..], Line::as_bytes);
        let own = if own.is_empty() { b"message" } else { own };
        own == name.as_bytes()
    }
}
