//! The server as its clients see it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod attacks;
mod doors;
mod eras;
mod lanes;
mod lines;
mod support;
