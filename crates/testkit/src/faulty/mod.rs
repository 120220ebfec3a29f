//! A server that is right in both eras, except for the faults a script gives it.
//!
//! The linter's tests break it in one way at a time: the same [`Script`] runs inside the test over a pipe, as a process, and
//! over HTTP. What a right server answers is in [`model`]; what goes wrong is data.

mod authorization;
mod conversation;
mod http;
pub mod model;
mod script;
mod stdio;

pub use http::serve_http;
pub use script::{Act, Auth, Fault, Kind, Script, When};
pub use stdio::{inside, serve};
