//! The server as its clients see it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod attacks;
mod bodies;
mod doors;
mod endings;
mod eras;
mod lanes;
mod lines;
mod places;
mod requests;
mod stopping;
mod support;
