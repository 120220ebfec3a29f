//! Child processes within bounds. This crate knows no MCP.
//!
//! A [`Command`] is a program with arguments, never a line for a shell. Its environment holds what it was given and a
//! short list of inherited variables. There are two ways to use it:
//!
//! - [`Process::spawn`] starts a program to talk to: the caller gets its stdin and stdout, and ends it with
//!   [`Process::shutdown`] (EOF, SIGTERM, SIGKILL).
//! - [`Command::run`] runs a program to its end, within [`Limits`]: both streams are read, and their ends kept.
//!
//! Either way the program leads a process group of its own, and however it ends, or if its handle is dropped,
//! everything that is left of the group is killed ([`Containment`]). If this process itself is killed, a small helper process,
//! the watchdog, does the same. What a program may do while it runs (files, network) is left to others.

mod census;
mod command;
mod ending;
mod environment;
mod group;
mod head_tail;
mod limits;
mod lookup;
mod monitor;
mod process;
mod run;
mod shutdown;
mod spawn_error;
mod stream;
mod watchdog;

pub use command::Command;
pub use ending::Ending;
pub use environment::{inherited, is_inherited};
pub use group::Containment;
pub use head_tail::{Captured, HeadTail, Keep};
pub use limits::{DEFAULT_DEADLINE, DEFAULT_MEMORY, Limits, Overflow};
pub use lookup::{DEFAULT_PATH, is_executable, search_path};
pub use process::Process;
pub use run::{Finished, Running};
pub use shutdown::{Departure, Patience, Rung};
pub use spawn_error::SpawnError;
pub use stream::Stream;
