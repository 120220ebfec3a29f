//! The caller's view of faulty servers. Each test is named for the row of the adversarial
//! catalogue that it covers.
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
