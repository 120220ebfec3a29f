//! A server that is correct in both eras, except for the faults that a script gives it.
//!
//! The linter's tests break it in one way at a time: the same [`Script`] runs inside the test over
//! a pipe, as a process, and over HTTP. The correct answers are in [`model`]; the faults are data.

mod authorization;
mod change;
mod conversation;
mod effect;
mod gzip;
mod http;
pub mod model;
mod script;
mod stdio;
mod written;

pub use change::IdFault;
pub use effect::Effect;
pub use http::serve_http;
pub use script::{Act, Auth, Fault, HttpCheck, Kind, Reads, Script, When};
pub use stdio::{Earlier, inside, serve};
pub use written::Written;
