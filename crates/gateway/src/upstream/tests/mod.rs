//! Upstreams with a fake server, under simulated time.

mod calls;
mod fake;
mod lists;
mod sessions;
mod states;
