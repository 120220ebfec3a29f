//! Upstreams of the gateway with real processes and sockets. Each test is named for the row of the
//! adversarial catalogue that it covers.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../faults/support.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod faults;

mod hostile;
mod listening;
mod processes;
mod questions;
mod scripted;
#[allow(dead_code, reason = "it serves another target, too")]
mod support;
