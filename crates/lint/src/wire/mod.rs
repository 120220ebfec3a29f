//! The raw wire: lines that record every frame unchanged. Only probes use it.
//!
//! [`Dial`] opens lines, [`Speaker`] sends on one: well-formed requests of an era, or any bytes.

mod cpu_wait;
mod deadline;
mod dial;
mod http;
mod inbox;
mod messages;
mod pipe;
mod say;
mod speaker;
mod sse;

pub use dial::{Dial, DialError, Pair, Processes};
pub use http::{Enough, EraHeaders, HttpAsk};
pub(crate) use messages::{bytes, initialize_params, modern_meta, notification, request};
pub use say::{Expect, Heard, Say};
pub use speaker::Speaker;
