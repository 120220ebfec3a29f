//! The raw wire: lines that keep every frame and hide nothing. Only probes use it.
//!
//! [`Dial`] knows how to open a line, [`Speaker`] speaks on one: well-formed requests of an era, or any bytes at all.

mod dial;
mod dress;
mod http;
mod inbox;
mod pipe;
mod say;
mod speaker;
mod sse;

pub use dial::{Dial, DialError, Pair};
pub use dress::{CLIENT_NAME, bytes, initialize_params, modern_meta, notification, request};
pub use http::{Dressed, Enough, HttpAsk};
pub use say::{Expect, Heard, Say};
pub use speaker::Speaker;
