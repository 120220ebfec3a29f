//! Upstreams against a server that does what the test says, under simulated time.

mod calls;
mod fake;
mod lists;
mod sessions;
mod states;
