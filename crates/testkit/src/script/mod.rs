//! Scripted peers: servers that do exactly what a test says, byte by byte, and tell it what they were sent.
//!
//! [`ProcessPeer`] is a server that is a process. The process itself (`scripted-peer`) is only a [relay]: what it reads goes
//! to the test over a loopback socket, and what the test says comes out of it. [`HttpPeer`] is a server that is an address.
//! Both panic when the other side does what the script does not have, as a test should.

mod asked;
mod http;
mod process;
pub mod relay;

pub use asked::Asked;
pub use http::{Events, HttpPeer, Incoming};
pub use process::{ProcessLine, ProcessPeer};
