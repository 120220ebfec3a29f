//! Broken setups, each a real process or socket: the doctor must name the right cause and the line
//! that fixes it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod address;
mod bench;
mod command;
mod hostile;
mod machine;
mod output;
mod program;
mod protocol;
mod refusal;
mod scripts;
mod secure;
mod sign_in;
mod site;
mod visit;
