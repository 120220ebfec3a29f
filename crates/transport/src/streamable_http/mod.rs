//! Streamable HTTP, the client's side: messages are posted to one endpoint, the answer is one JSON message or a
//! stream of them.
//!
//! Bytes in, bytes out: which headers a revision wants, what a message means and when an exchange is over is for the
//! caller to know. Closing an exchange (dropping it) closes its stream, which since 2026-07-28 means "cancel".

mod endpoint;
mod exchange;
mod resume;

pub use endpoint::Endpoint;
pub use exchange::Exchange;
pub use resume::{
    DEFAULT_MAX_RETRY, DEFAULT_RESUME_ATTEMPTS, DEFAULT_RETRY, GaveUp, Reconnect, Resume, STEADY,
};
