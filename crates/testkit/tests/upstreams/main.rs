//! Upstreams of the gateway against real processes and addresses. Tests are named by the row of the adversarial catalogue
//! they show.
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
