//! One suite over every store: in memory, in a file, in a real Redis; and faults of the last two.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod disk;
mod redis_faults;
mod redis_server;
mod support;
