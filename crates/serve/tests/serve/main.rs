//! Tests of the server through its transports.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod attacks;
mod bodies;
mod connection_slots;
mod doors;
mod endings;
mod eras;
mod requests;
mod stdio;
mod stopping;
mod support;
mod workers;
