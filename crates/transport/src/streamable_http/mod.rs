//! The client side of Streamable HTTP: messages are posted to one endpoint, and the response is
//! one JSON message or a stream of messages.
//!
//! This module handles bytes: the caller knows the headers of a revision, the meaning of a message
//! and the last message of an exchange. Dropping an exchange closes its stream, which since
//! 2026-07-28 means "cancel".

mod endpoint;
mod exchange;
mod resume;

pub use endpoint::Endpoint;
pub use exchange::Exchange;
pub use resume::{
    DEFAULT_MAX_RETRY, DEFAULT_RESUME_ATTEMPTS, DEFAULT_RETRY, GaveUp, Reconnect, Resume, STEADY,
};
