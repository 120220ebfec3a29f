//! Scripted peers: servers that write exactly the bytes that a test gives them, and pass on to the
//! test what they receive.
//!
//! [`ProcessPeer`] is a stdio server. Its process (`scripted-peer`) is only a [relay]: its input
//! goes to the test over a loopback socket, and the test's bytes become its output. [`HttpPeer`]
//! is an HTTP server. Both panic if the client does something that the script does not expect, as
//! a test should.

mod asked;
mod http;
mod process;
pub mod relay;

pub use asked::Asked;
pub use http::{Events, HttpPeer, Incoming};
pub use process::{ProcessLine, ProcessPeer};
