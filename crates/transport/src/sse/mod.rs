//! The event-stream format (WHATWG HTML, "Server-sent events"): one decoder, one encoder, both on
//! bytes.
//!
//! An [`Event`] holds the fields of one block of the stream. A browser drops a block without
//! `data`; here a block with `data`, `id` or `retry` is an event, because servers start a
//! resumable stream with an id (and a delay) alone. Code that reads messages skips events with
//! empty data. A block with only `event` or comments is not an event.

mod decoder;
mod encode;
mod line;

use std::time::Duration;

use bytes::Bytes;

pub use decoder::{DEFAULT_EVENT_LIMIT, Decoder, EventError};
pub use encode::{KEEP_ALIVE, encode};
pub use line::{Line, NotALine};

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The `id` of this event. An empty one resets the last event id.
    pub id: Option<Line>,
    /// The event's name; without one it is a `message`.
    pub event: Option<Line>,
    /// The `data` lines, joined by line feeds.
    pub data: Bytes,
    /// The delay before a reconnect that the server asks for.
    pub retry: Option<Duration>,
}

impl Event {
    /// An event without a name, with only `data`.
    pub fn message(data: Bytes) -> Self {
        Self { data, ..Self::default() }
    }

    /// True if the event has this name; an event without a name, or with an empty one, is a
    /// `message`.
    pub fn is(&self, name: &str) -> bool {
        let own = self.event.as_ref().map_or(&b""[..], Line::as_bytes);
        let own = if own.is_empty() { b"message" } else { own };
        own == name.as_bytes()
    }
}
