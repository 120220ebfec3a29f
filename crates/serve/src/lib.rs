//! Any [`Handler`](trunkline_protocol::Handler) offered to the world, to clients of every revision at once.
//!
//! Inside, a handler is spoken to in the newest revision's shape. What differs for a client is dealt with here: `era` lifts
//! what a legacy client says and lowers what it may hear; `http`, `stdio` and `legacy_sse` carry it.

mod access;
mod connection_slots;
mod control;
mod doors;
mod duplex;
mod era;
mod guard;
mod http;
mod metrics;
mod options;
mod outgoing;
mod phase;
mod server;
mod service;
mod session;
mod stdio;
mod tasks;
mod workers;

pub use access::{Access, AccessHook, CallEnding, Logged, Way};
pub use guard::{Admission, BindRefused, Denied, Gate, Guard};
pub use options::{Eras, Limits, Page, Render, ServeOptions};
pub use server::{BindError, Listener, Server, Shutdown};
pub use stdio::serve_stdio;
pub use workers::{WorkerThreads, Workers};
