//! The threads that a command runs on.

use crate::failure::Failure;
use std::{io, thread};
use tokio::runtime::{Builder, Runtime};
use trunkline_serve::{WorkerThreads, Workers};

/// How many threads do the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// For one client on a pipe, whose messages come one after the other: a second thread would mostly be woken to find nothing
    /// to do.
    One,
    /// As many as there are processors.
    All,
}

/// The main thread's runtime. Work that takes the processor for long, or waits, goes to threads of its own.
pub(crate) fn start() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|error| cannot(&error))
}

fn cannot(error: &io::Error) -> Failure {
    Failure::usage(format!("the program cannot start: {error}"))
}

/// The main thread's runtime, and threads beside it.
pub(crate) struct Engine {
    main: Runtime,
    further: WorkerThreads,
}

impl Engine {
    pub(crate) fn start(threads: Threads) -> Result<Self, Failure> {
        let further = match threads {
            Threads::One => 0,
            Threads::All => thread::available_parallelism().map_or(0, |all| all.get() - 1),
        };
        Ok(Self { main: start()?, further: WorkerThreads::start(further).map_err(|error| cannot(&error))? })
    }

    /// Runs the command on the main thread.
    pub(crate) fn run<T>(&self, command: impl Future<Output = T>) -> T {
        self.main.block_on(command)
    }

    /// Where connections are served; the main thread, which does everything else as well, comes last.
    pub(crate) fn workers(&self) -> Workers {
        Workers::new(self.further.runtimes().chain([self.main.handle().clone()]))
    }
}
