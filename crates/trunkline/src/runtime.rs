//! The tokio runtimes and threads of a command.

use crate::failure::Failure;
use std::{
    io::{self, IsTerminal},
    thread,
};
use tokio::runtime::{Builder, Runtime};
use trunkline_serve::{WorkerThreads, Workers};

/// Number of threads that serve connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// For one client on a pipe, whose messages are sequential: a second thread would mostly be
    /// woken in vain.
    One,
    /// One per CPU.
    All,
}

/// The main thread's runtime. CPU-bound or blocking work goes to separate threads.
pub(crate) fn start() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|error| cannot(&error))
}

fn cannot(error: &io::Error) -> Failure {
    Failure::usage(format!("the program cannot start: {error}"))
}

/// The main thread's runtime, and the worker threads.
pub(crate) struct Engine {
    main: Runtime,
    further: WorkerThreads,
    threads: Threads,
}

impl Engine {
    pub(crate) fn start(threads: Threads) -> Result<Self, Failure> {
        let further = match threads {
            Threads::One => 0,
            Threads::All => thread::available_parallelism().map_or(0, |all| all.get() - 1),
        };
        let further = WorkerThreads::start(further).map_err(|error| cannot(&error))?;
        Ok(Self { main: start()?, further, threads })
    }

    /// Runs the command on the main thread.
    pub(crate) fn run<T>(self, command: impl Future<Output = T>) -> T {
        let outcome = self.main.block_on(command);
        // A thread that reads from a terminal is blocked until the user presses Enter. Other
        // blocking work is waited for when the runtime is dropped.
        if io::stdin().is_terminal() && matches!(self.threads, Threads::One) {
            self.main.shutdown_background();
        }
        outcome
    }

    /// The runtimes that serve connections. The main thread comes last, because it also does
    /// everything else.
    pub(crate) fn workers(&self) -> Workers {
        Workers::new(self.further.runtimes().chain([self.main.handle().clone()]))
    }
}
