//! Newline-delimited frames over any pair of byte streams.
//!
//! A *frame* is one JSON text on one line, without its newline, as `Bytes`; the caller parses it.
//! The streams may belong to a child process ([`crate::child`]) or to this process.

mod queue;
mod queue_limits;
mod reader;
mod standard;
mod writer;

pub use queue_limits::{DEFAULT_QUEUE_BYTES, DEFAULT_QUEUE_FRAMES, DEFAULT_STALL_LIMIT, QueueLimits};
pub use reader::{DEFAULT_LINE_LIMIT, FrameReader, Line, TOO_LONG_HEAD};
pub use standard::{standard_input, standard_output};
pub use writer::{FrameWriter, SendError, TrySendError};
