//! What a caller sees when a server does wrong. Tests are named by the row of the adversarial catalogue they show.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

mod detection;
mod hostile_json;
mod http_faults;
mod lifecycle;
mod rounds;
mod sessions;
mod stdio_faults;
mod support;
mod tasks;
mod upstream;
