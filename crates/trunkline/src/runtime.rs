//! The threads that a command runs on.

use crate::failure::Failure;
use std::{io, num::NonZeroUsize, thread};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::oneshot,
};
use trunkline_serve::Lanes;

/// How many threads do the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// For one client on a pipe, whose messages come one after the other: a second thread would mostly be woken to find nothing
    /// to do.
    One,
    /// As many as there are processors.
    All,
}

/// The main thread's runtime, and one further thread with a runtime of its own for each further lane.
pub(crate) struct Engine {
    main: Runtime,
    further: Vec<Further>,
}

/// A lane beside the main thread. It ends with the engine.
struct Further {
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Engine {
    pub(crate) fn start(threads: Threads) -> Result<Self, Failure> {
        let lanes = match threads {
            Threads::One => 1,
            Threads::All => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        let start = || {
            let further = (1..lanes).map(Further::start).collect::<Result<_, _>>()?;
            Ok(Self { main: runtime()?, further })
        };
        start().map_err(|error: io::Error| Failure::usage(format!("the program cannot start: {error}")))
    }

    /// Runs the command on the main thread.
    pub(crate) fn run<T>(&self, command: impl Future<Output = T>) -> T {
        self.main.block_on(command)
    }

    /// Where connections are served.
    pub(crate) fn lanes(&self) -> Lanes {
        Lanes::new(self.further.iter().map(|lane| &lane.runtime).chain([self.main.handle()]).cloned())
    }
}

impl Further {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(format!("lane-{number}")).spawn(move || {
            // Whether it was told or the teller is gone: both are the end.
            drop(runtime.block_on(stopped));
        })?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Further {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a thread that served connections panicked");
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
