//! Any [`Handler`](trunkline_protocol::Handler) offered to the world, to clients of every revision at once.
//!
//! Inside, a handler is spoken to in the newest revision's shape. What differs for a client is dealt with here: `era` lifts
//! what a legacy client says and lowers what it may hear; `http`, `stdio` and `legacy_sse` carry it.

mod access;
mod aside;
mod control;
mod doors;
mod duplex;
mod era;
mod guard;
mod http;
mod lanes;
mod lazy_timer;
mod metrics;
mod options;
mod outgoing;
mod phase;
mod places;
mod server;
mod service;
mod session;
mod stdio;
mod tasks;

pub use access::{Access, AccessHook, CallEnding, Logged, Way};
pub use guard::{Admission, BindRefused, Denied, Gate, Guard};
pub use lanes::{LaneThreads, Lanes};
pub use options::{Eras, Limits, Page, Render, ServeOptions};
pub use server::{BindError, Listener, Server, Shutdown};
pub use stdio::serve_stdio;

/// Requests read from memory, for tests that bring requests of their own.
pub mod trial {
    pub use crate::http::{End, Heard, hear};
}
