//! Child processes with limits. This crate does not know MCP.
//!
//! A [`Command`] is a program with arguments, never a shell command line. Its environment has the
//! given variables and a short list of inherited ones. There are two ways to run it:
//!
//! - [`Process::spawn`] starts a program to talk to: the caller gets its stdin and stdout, and
//!   ends it with [`Process::shutdown`] (EOF, SIGTERM, SIGKILL).
//! - [`Command::run`] runs a program to its end, within [`Limits`]: both output streams are read,
//!   and their beginning and end are kept.
//!
//! Either way the program leads its own process group. When it ends, or when its handle is
//! dropped, the rest of the group is killed ([`Containment`]). If this process itself is killed, a
//! small helper process, the watchdog, kills the groups. A [`Confinement`] limits the files that a
//! program can access, and its TCP connections. A child process of our own that
//! parses untrusted input isolates itself further ([`Isolation`]).

mod command;
mod confinement;
mod ending;
mod environment;
mod group;
mod head_tail;
mod isolation;
mod limits;
mod lookup;
mod monitor;
mod proc_scan;
mod process;
mod run;
mod shutdown;
mod spawn_error;
mod stream;
mod supervisor;
mod watchdog;

pub use command::Command;
pub use confinement::{Confinement, Network, Reads, Restriction, RestrictionFailed};
pub use ending::Ending;
pub use environment::{inherited, is_inherited};
pub use group::Containment;
pub use head_tail::{Captured, HeadTail, Keep};
pub use isolation::{Isolated, Isolation, IsolationFailed};
pub use limits::{DEFAULT_DEADLINE, DEFAULT_MEMORY, Limits, Overflow, SetBy};
pub use lookup::{DEFAULT_PATH, is_executable, search_path};
pub use process::Process;
pub use run::{Finished, Running};
pub use shutdown::{Departure, GracePeriods, ShutdownStep};
pub use spawn_error::SpawnError;
pub use stream::Stream;
pub use supervisor::{Means, SUPERVISE, means};
#[cfg(target_os = "linux")]
pub use supervisor::{supervise, use_supervisor};
