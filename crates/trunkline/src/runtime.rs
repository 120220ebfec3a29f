//! The runtime that a command runs on.

use crate::failure::Failure;
use tokio::runtime::{Builder, Runtime};

/// How many threads do the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// For one client on a pipe, whose messages come one after the other: a second thread would mostly be woken to find nothing
    /// to do.
    One,
    /// As many as there are processors.
    All,
}

pub(crate) fn start(threads: Threads) -> Result<Runtime, Failure> {
    let mut builder = match threads {
        Threads::One => Builder::new_current_thread(),
        Threads::All => Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| Failure::usage(format!("the program cannot start: {error}")))
}
