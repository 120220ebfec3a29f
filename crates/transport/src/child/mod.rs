//! Server processes spoken to over their standard streams.
//!
//! A child runs in a process *group* of its own, with an environment cut down to an allow-list, and the group
//! goes with it: when the *leader* (the process started here) exits, is shut down, or its [`ChildProcess`] is
//! dropped, everything left in the group is killed. If this process itself is killed, a small helper
//! process, the *watchdog*, does the same. What the frames mean is left to the caller.

mod command;
mod ending;
mod environment;
mod group;
mod lookup;
mod monitor;
mod process;
mod shutdown;
mod spawn_error;
mod stderr_tail;
mod survivors;
mod watchdog;

pub use command::{ChildCommand, ChildLimits};
pub use ending::Ending;
pub use environment::{ENV_ALLOW_LIST, ENV_ALLOW_PREFIXES, allowed};
pub use process::ChildProcess;
pub use shutdown::{DEFAULT_EOF_PATIENCE, DEFAULT_TERM_PATIENCE, Departure, Patience, Rung};
pub use spawn_error::SpawnError;
pub use stderr_tail::{DEFAULT_STDERR_TAIL, STDERR_LINE_LIMIT, STDERR_LIVE_LINES, StderrTail};
pub use survivors::Survivors;
